--
-- PostgreSQL database dump
--


-- Dumped from database version 15.18 (Debian 15.18-0+deb12u1)
-- Dumped by pg_dump version 15.18 (Debian 15.18-0+deb12u1)

SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;

--
-- Name: adit_copy_of_client(); Type: FUNCTION; Schema: public; Owner: -
--

CREATE FUNCTION public.adit_copy_of_client() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
  SELECT "userId", "vkey", "connected" INTO NEW."ownerId", NEW."clientKey", NEW."clientOnline" FROM "Client" WHERE id = NEW."clientId";
  RETURN NEW;
END $$;


--
-- Name: adit_copy_to_routes(); Type: FUNCTION; Schema: public; Owner: -
--

CREATE FUNCTION public.adit_copy_to_routes() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
  UPDATE "Tunnel" SET "ownerId" = NEW."userId", "clientKey" = NEW."vkey", "clientOnline" = NEW."connected" WHERE "clientId" = NEW.id;
  UPDATE "Host" SET "ownerId" = NEW."userId", "clientKey" = NEW."vkey", "clientOnline" = NEW."connected" WHERE "clientId" = NEW.id;
  RETURN NULL;
END $$;


SET default_tablespace = '';

SET default_table_access_method = heap;

--
-- Name: ApiToken; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public."ApiToken" (
    id integer NOT NULL,
    "userId" integer,
    name text NOT NULL,
    hash text NOT NULL,
    "readOnly" boolean DEFAULT false NOT NULL,
    legacy boolean DEFAULT false NOT NULL,
    "expiresAt" timestamp(3) without time zone,
    "createdAt" timestamp(3) without time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    "lastUsedAt" timestamp(3) without time zone
);


--
-- Name: ApiToken_id_seq; Type: SEQUENCE; Schema: public; Owner: -
--

CREATE SEQUENCE public."ApiToken_id_seq"
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;


--
-- Name: ApiToken_id_seq; Type: SEQUENCE OWNED BY; Schema: public; Owner: -
--

ALTER SEQUENCE public."ApiToken_id_seq" OWNED BY public."ApiToken".id;


--
-- Name: AuditEntry; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public."AuditEntry" (
    id integer NOT NULL,
    at timestamp(3) without time zone NOT NULL,
    "callerKind" text NOT NULL,
    "callerId" integer,
    method text NOT NULL,
    address text NOT NULL,
    resource text NOT NULL,
    "resourceId" text NOT NULL,
    action text NOT NULL,
    before text,
    after text
);


--
-- Name: AuditEntry_id_seq; Type: SEQUENCE; Schema: public; Owner: -
--

CREATE SEQUENCE public."AuditEntry_id_seq"
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;


--
-- Name: AuditEntry_id_seq; Type: SEQUENCE OWNED BY; Schema: public; Owner: -
--

ALTER SEQUENCE public."AuditEntry_id_seq" OWNED BY public."AuditEntry".id;


--
-- Name: Client; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public."Client" (
    id integer NOT NULL,
    vkey text NOT NULL,
    remark text DEFAULT ''::text NOT NULL,
    enabled boolean DEFAULT true NOT NULL,
    "disabledByAdmin" boolean DEFAULT false NOT NULL,
    "basicUser" text DEFAULT ''::text NOT NULL,
    "basicPassword" text DEFAULT ''::text NOT NULL,
    compress boolean DEFAULT false NOT NULL,
    crypt boolean DEFAULT false NOT NULL,
    "configAllowed" boolean DEFAULT false NOT NULL,
    "rateLimit" integer DEFAULT 0 NOT NULL,
    "flowLimit" integer DEFAULT 0 NOT NULL,
    "maxConnections" integer DEFAULT 0 NOT NULL,
    "maxTunnels" integer DEFAULT 0 NOT NULL,
    "webUsername" text DEFAULT ''::text NOT NULL,
    "webPasswordHash" text DEFAULT ''::text NOT NULL,
    "blackIpList" text DEFAULT ''::text NOT NULL,
    "ipWhite" boolean DEFAULT false NOT NULL,
    "ipWhitePassword" text DEFAULT ''::text NOT NULL,
    "ipWhiteList" text DEFAULT ''::text NOT NULL,
    "expiresAt" timestamp(3) without time zone,
    "createdAt" timestamp(3) without time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    "lastOnlineAt" timestamp(3) without time zone,
    "lastAddress" text DEFAULT ''::text NOT NULL,
    "localAddress" text DEFAULT ''::text NOT NULL,
    "agentVersion" text DEFAULT ''::text NOT NULL,
    "inletBytes" bigint DEFAULT 0 NOT NULL,
    "exportBytes" bigint DEFAULT 0 NOT NULL,
    "tunnelCount" integer DEFAULT 0 NOT NULL,
    "hostCount" integer DEFAULT 0 NOT NULL,
    "userId" integer,
    connected boolean DEFAULT false NOT NULL,
    rate bigint DEFAULT 0 NOT NULL,
    expired boolean DEFAULT false NOT NULL
);


--
-- Name: Client_id_seq; Type: SEQUENCE; Schema: public; Owner: -
--

CREATE SEQUENCE public."Client_id_seq"
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;


--
-- Name: Client_id_seq; Type: SEQUENCE OWNED BY; Schema: public; Owner: -
--

ALTER SEQUENCE public."Client_id_seq" OWNED BY public."Client".id;


--
-- Name: GlobalSettings; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public."GlobalSettings" (
    id integer DEFAULT 1 NOT NULL,
    "blackIpList" text DEFAULT ''::text NOT NULL,
    "serverUrl" text DEFAULT ''::text NOT NULL
);


--
-- Name: Host; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public."Host" (
    id integer NOT NULL,
    "clientId" integer NOT NULL,
    host text NOT NULL,
    location text DEFAULT '/'::text NOT NULL,
    scheme text DEFAULT 'all'::text NOT NULL,
    remark text DEFAULT ''::text NOT NULL,
    target text DEFAULT ''::text NOT NULL,
    "localProxy" boolean DEFAULT false NOT NULL,
    "headerChange" text DEFAULT ''::text NOT NULL,
    "hostChange" text DEFAULT ''::text NOT NULL,
    "keyFilePath" text DEFAULT ''::text NOT NULL,
    "certFilePath" text DEFAULT ''::text NOT NULL,
    "autoHttps" boolean DEFAULT false NOT NULL,
    enabled boolean DEFAULT true NOT NULL,
    "createdAt" timestamp(3) without time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    "inletBytes" bigint DEFAULT 0 NOT NULL,
    "exportBytes" bigint DEFAULT 0 NOT NULL,
    "platformDomainId" text,
    "platformPrefix" text,
    "clientKey" text DEFAULT ''::text NOT NULL,
    "clientOnline" boolean DEFAULT false NOT NULL,
    "ownerId" integer,
    acme boolean DEFAULT false NOT NULL,
    "noStore" boolean DEFAULT false NOT NULL
);


--
-- Name: Host_id_seq; Type: SEQUENCE; Schema: public; Owner: -
--

CREATE SEQUENCE public."Host_id_seq"
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;


--
-- Name: Host_id_seq; Type: SEQUENCE OWNED BY; Schema: public; Owner: -
--

ALTER SEQUENCE public."Host_id_seq" OWNED BY public."Host".id;


--
-- Name: PlatformDomain; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public."PlatformDomain" (
    id text NOT NULL,
    wildcard text NOT NULL,
    "certFilePath" text DEFAULT ''::text NOT NULL,
    "keyFilePath" text DEFAULT ''::text NOT NULL
);


--
-- Name: Session; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public."Session" (
    id text NOT NULL,
    kind text NOT NULL,
    "userId" integer,
    "clientId" integer,
    stamp text DEFAULT ''::text NOT NULL,
    "createdAt" timestamp(3) without time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    "lastSeenAt" timestamp(3) without time zone DEFAULT CURRENT_TIMESTAMP NOT NULL
);


--
-- Name: Total; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public."Total" (
    name text NOT NULL,
    value integer DEFAULT 0 NOT NULL
);


--
-- Name: TrafficSample; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public."TrafficSample" (
    resource text NOT NULL,
    "resourceId" integer NOT NULL,
    step text NOT NULL,
    at integer NOT NULL,
    "inletBytes" bigint NOT NULL,
    "exportBytes" bigint NOT NULL
);


--
-- Name: Tunnel; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public."Tunnel" (
    id integer NOT NULL,
    "clientId" integer NOT NULL,
    mode text NOT NULL,
    remark text DEFAULT ''::text NOT NULL,
    port integer DEFAULT 0 NOT NULL,
    "serverIp" text DEFAULT ''::text NOT NULL,
    target text DEFAULT ''::text NOT NULL,
    "localProxy" boolean DEFAULT false NOT NULL,
    password text DEFAULT ''::text NOT NULL,
    "localPath" text DEFAULT ''::text NOT NULL,
    "stripPrefix" text DEFAULT ''::text NOT NULL,
    "proxyProtocol" text DEFAULT ''::text NOT NULL,
    enabled boolean DEFAULT true NOT NULL,
    "createdAt" timestamp(3) without time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    "inletBytes" bigint DEFAULT 0 NOT NULL,
    "exportBytes" bigint DEFAULT 0 NOT NULL,
    "clientKey" text DEFAULT ''::text NOT NULL,
    "clientOnline" boolean DEFAULT false NOT NULL,
    "ownerId" integer,
    running boolean DEFAULT false NOT NULL,
    "noStore" boolean DEFAULT false NOT NULL
);


--
-- Name: Tunnel_id_seq; Type: SEQUENCE; Schema: public; Owner: -
--

CREATE SEQUENCE public."Tunnel_id_seq"
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;


--
-- Name: Tunnel_id_seq; Type: SEQUENCE OWNED BY; Schema: public; Owner: -
--

ALTER SEQUENCE public."Tunnel_id_seq" OWNED BY public."Tunnel".id;


--
-- Name: User; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public."User" (
    id integer NOT NULL,
    username text NOT NULL,
    "passwordHash" text NOT NULL,
    enabled boolean DEFAULT true NOT NULL,
    remark text DEFAULT ''::text NOT NULL,
    "maxClients" integer DEFAULT 0 NOT NULL,
    "maxTunnels" integer DEFAULT 0 NOT NULL,
    "expiresAt" timestamp(3) without time zone,
    "createdAt" timestamp(3) without time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    "clientCount" integer DEFAULT 0 NOT NULL,
    "tunnelCount" integer DEFAULT 0 NOT NULL,
    "hostCount" integer DEFAULT 0 NOT NULL,
    expired boolean DEFAULT false NOT NULL
);


--
-- Name: User_id_seq; Type: SEQUENCE; Schema: public; Owner: -
--

CREATE SEQUENCE public."User_id_seq"
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;


--
-- Name: User_id_seq; Type: SEQUENCE OWNED BY; Schema: public; Owner: -
--

ALTER SEQUENCE public."User_id_seq" OWNED BY public."User".id;


--
-- Name: _prisma_migrations; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public._prisma_migrations (
    id character varying(36) NOT NULL,
    checksum character varying(64) NOT NULL,
    finished_at timestamp with time zone,
    migration_name character varying(255) NOT NULL,
    logs text,
    rolled_back_at timestamp with time zone,
    started_at timestamp with time zone DEFAULT now() NOT NULL,
    applied_steps_count integer DEFAULT 0 NOT NULL
);


--
-- Name: ApiToken id; Type: DEFAULT; Schema: public; Owner: -
--

ALTER TABLE ONLY public."ApiToken" ALTER COLUMN id SET DEFAULT nextval('public."ApiToken_id_seq"'::regclass);


--
-- Name: AuditEntry id; Type: DEFAULT; Schema: public; Owner: -
--

ALTER TABLE ONLY public."AuditEntry" ALTER COLUMN id SET DEFAULT nextval('public."AuditEntry_id_seq"'::regclass);


--
-- Name: Client id; Type: DEFAULT; Schema: public; Owner: -
--

ALTER TABLE ONLY public."Client" ALTER COLUMN id SET DEFAULT nextval('public."Client_id_seq"'::regclass);


--
-- Name: Host id; Type: DEFAULT; Schema: public; Owner: -
--

ALTER TABLE ONLY public."Host" ALTER COLUMN id SET DEFAULT nextval('public."Host_id_seq"'::regclass);


--
-- Name: Tunnel id; Type: DEFAULT; Schema: public; Owner: -
--

ALTER TABLE ONLY public."Tunnel" ALTER COLUMN id SET DEFAULT nextval('public."Tunnel_id_seq"'::regclass);


--
-- Name: User id; Type: DEFAULT; Schema: public; Owner: -
--

ALTER TABLE ONLY public."User" ALTER COLUMN id SET DEFAULT nextval('public."User_id_seq"'::regclass);


--
-- Data for Name: ApiToken; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public."ApiToken" VALUES (1, NULL, 'scripts', 'ec85e46cf35c053a5ccdf17faacffac366e5e27b0945a2302a31022611e9e860', false, false, NULL, '2026-11-24 11:54:19.954', NULL);


--
-- Data for Name: AuditEntry; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public."AuditEntry" VALUES (1, '2026-11-24 11:54:17.013', 'admin', NULL, 'signature', '127.0.0.1', 'user', '1', 'create', NULL, '{"id":1,"username":"alice","passwordHash":"(hidden)","enabled":true,"remark":"a user","maxClients":5,"maxTunnels":20,"expiresAt":"2099-01-01T00:00:00.000Z","expired":false}');
INSERT INTO public."AuditEntry" VALUES (2, '2026-11-24 11:54:17.237', 'admin', NULL, 'signature', '127.0.0.1', 'client', '1', 'create', NULL, '{"id":1,"vkey":"(hidden)","remark":"first","enabled":true,"disabledByAdmin":false,"basicUser":"proxy","basicPassword":"(hidden)","compress":false,"crypt":false,"configAllowed":false,"rateLimit":5000,"flowLimit":0,"maxConnections":0,"maxTunnels":0,"webUsername":"","webPasswordHash":"","blackIpList":"","ipWhite":false,"ipWhitePassword":"","ipWhiteList":"","expiresAt":null,"expired":false,"userId":1}');
INSERT INTO public."AuditEntry" VALUES (3, '2026-11-24 11:54:17.483', 'admin', NULL, 'signature', '127.0.0.1', 'client', '2', 'create', NULL, '{"id":2,"vkey":"(hidden)","remark":"second","enabled":true,"disabledByAdmin":false,"basicUser":"","basicPassword":"","compress":false,"crypt":false,"configAllowed":false,"rateLimit":0,"flowLimit":0,"maxConnections":7,"maxTunnels":0,"webUsername":"","webPasswordHash":"","blackIpList":"192.0.2.0/24","ipWhite":false,"ipWhitePassword":"","ipWhiteList":"","expiresAt":null,"expired":false,"userId":null}');
INSERT INTO public."AuditEntry" VALUES (4, '2026-11-24 11:54:17.744', 'admin', NULL, 'signature', '127.0.0.1', 'tunnel', '1', 'create', NULL, '{"id":1,"clientId":1,"mode":"tcp","remark":"to the web server","port":27001,"serverIp":"","target":"127.0.0.1:27002","localProxy":false,"password":"","localPath":"","stripPrefix":"","proxyProtocol":"","enabled":true,"noStore":false}');
INSERT INTO public."AuditEntry" VALUES (5, '2026-11-24 11:54:17.992', 'admin', NULL, 'signature', '127.0.0.1', 'tunnel', '2', 'create', NULL, '{"id":2,"clientId":1,"mode":"secret","remark":"","port":0,"serverIp":"","target":"127.0.0.1:22","localProxy":false,"password":"(hidden)","localPath":"","stripPrefix":"","proxyProtocol":"","enabled":true,"noStore":false}');
INSERT INTO public."AuditEntry" VALUES (6, '2026-11-24 11:54:18.265', 'admin', NULL, 'signature', '127.0.0.1', 'tunnel', '3', 'create', NULL, '{"id":3,"clientId":1,"mode":"p2p","remark":"","port":0,"serverIp":"","target":"127.0.0.1:22","localProxy":false,"password":"(hidden)","localPath":"","stripPrefix":"","proxyProtocol":"","enabled":true,"noStore":false}');
INSERT INTO public."AuditEntry" VALUES (7, '2026-11-24 11:54:18.437', 'admin', NULL, 'signature', '127.0.0.1', 'tunnel', '4', 'create', NULL, '{"id":4,"clientId":2,"mode":"udp","remark":"","port":27003,"serverIp":"","target":"127.0.0.1:53","localProxy":false,"password":"","localPath":"","stripPrefix":"","proxyProtocol":"","enabled":true,"noStore":false}');
INSERT INTO public."AuditEntry" VALUES (8, '2026-11-24 11:54:18.643', 'admin', NULL, 'signature', '127.0.0.1', 'tunnel', '4', 'update', '{"id":4,"clientId":2,"mode":"udp","remark":"","port":27003,"serverIp":"","target":"127.0.0.1:53","localProxy":false,"password":"","localPath":"","stripPrefix":"","proxyProtocol":"","enabled":true,"noStore":false}', '{"id":4,"clientId":2,"mode":"udp","remark":"","port":27003,"serverIp":"","target":"127.0.0.1:53","localProxy":false,"password":"","localPath":"","stripPrefix":"","proxyProtocol":"","enabled":false,"noStore":false}');
INSERT INTO public."AuditEntry" VALUES (9, '2026-11-24 11:54:19.019', 'admin', NULL, 'signature', '127.0.0.1', 'host', '1', 'create', NULL, '{"id":1,"clientId":1,"host":"www.example.com","location":"/path","scheme":"all","remark":"","target":"127.0.0.1:80","localProxy":false,"headerChange":"(hidden)","hostChange":"inner.example","keyFilePath":"","certFilePath":"","autoHttps":false,"acme":false,"enabled":true,"platformDomainId":null,"platformPrefix":null,"noStore":false}');
INSERT INTO public."AuditEntry" VALUES (10, '2026-11-24 11:54:19.352', 'admin', NULL, 'signature', '127.0.0.1', 'host', '2', 'create', NULL, '{"id":2,"clientId":2,"host":"*.example.org","location":"/","scheme":"http","remark":"","target":"127.0.0.1:80\n127.0.0.1:81","localProxy":false,"headerChange":"","hostChange":"","keyFilePath":"","certFilePath":"","autoHttps":false,"acme":false,"enabled":true,"platformDomainId":null,"platformPrefix":null,"noStore":false}');
INSERT INTO public."AuditEntry" VALUES (11, '2026-11-24 11:54:19.584', 'admin', NULL, 'signature', '127.0.0.1', 'globalSettings', '1', 'update', '{"blackIpList":"","serverUrl":"","platformDomains":[]}', '{"blackIpList":"198.51.100.7","serverUrl":"tunnel.example.com","platformDomains":[]}');
INSERT INTO public."AuditEntry" VALUES (12, '2026-11-24 11:54:19.982', 'admin', NULL, 'signature', '127.0.0.1', 'apiToken', '1', 'create', NULL, '{"id":1,"userId":null,"name":"scripts","hash":"(hidden)","readOnly":false,"legacy":false,"expiresAt":null}');


--
-- Data for Name: Client; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public."Client" VALUES (2, 'the key of the second client', 'second', true, false, '', '', false, false, false, 0, 0, 7, 0, '', '', '192.0.2.0/24', false, '', '', NULL, '2026-11-24 11:54:17.439', NULL, '', '', '', 0, 0, 2, 1, NULL, false, 0, false);
INSERT INTO public."Client" VALUES (1, 'the key of the first client', 'first', true, false, 'proxy', 'its password', false, false, false, 5000, 0, 0, 0, '', '', '', false, '', '', NULL, '2026-11-24 11:54:17.191', '2026-11-24 11:54:24.736', '127.0.0.1', '192.0.2.2', '0.1.0', 100000, 100000, 4, 1, 1, false, 0, false);


--
-- Data for Name: GlobalSettings; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public."GlobalSettings" VALUES (1, '198.51.100.7', 'tunnel.example.com');


--
-- Data for Name: Host; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public."Host" VALUES (1, 1, 'www.example.com', '/path', 'all', '', '127.0.0.1:80', false, 'X-One: 1', 'inner.example', '', '', false, true, '2026-11-24 11:54:19.005', 0, 0, NULL, NULL, 'the key of the first client', false, 1, false, false);
INSERT INTO public."Host" VALUES (2, 2, '*.example.org', '/', 'http', '', '127.0.0.1:80
127.0.0.1:81', false, '', '', '', '', false, true, '2026-11-24 11:54:19.323', 0, 0, NULL, NULL, 'the key of the second client', false, NULL, false, false);


--
-- Data for Name: PlatformDomain; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: Session; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: Total; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public."Total" VALUES ('users', 1);
INSERT INTO public."Total" VALUES ('clients', 2);
INSERT INTO public."Total" VALUES ('tunnels:tcp', 1);
INSERT INTO public."Total" VALUES ('tunnels:secret', 1);
INSERT INTO public."Total" VALUES ('tunnels:p2p', 1);
INSERT INTO public."Total" VALUES ('tunnels', 4);
INSERT INTO public."Total" VALUES ('tunnels:udp', 1);
INSERT INTO public."Total" VALUES ('hosts', 2);
INSERT INTO public."Total" VALUES ('audit', 12);


--
-- Data for Name: TrafficSample; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public."TrafficSample" VALUES ('client', 1, 'hour', 29925300, 100000, 100000);
INSERT INTO public."TrafficSample" VALUES ('client', 1, 'minute', 29925354, 100000, 100000);
INSERT INTO public."TrafficSample" VALUES ('client', 1, 'day', 29924640, 100000, 100000);
INSERT INTO public."TrafficSample" VALUES ('user', 1, 'hour', 29925300, 100000, 100000);
INSERT INTO public."TrafficSample" VALUES ('user', 1, 'minute', 29925354, 100000, 100000);
INSERT INTO public."TrafficSample" VALUES ('user', 1, 'day', 29924640, 100000, 100000);
INSERT INTO public."TrafficSample" VALUES ('tunnel', 1, 'hour', 29925300, 100000, 100000);
INSERT INTO public."TrafficSample" VALUES ('tunnel', 1, 'minute', 29925354, 100000, 100000);
INSERT INTO public."TrafficSample" VALUES ('tunnel', 1, 'day', 29924640, 100000, 100000);


--
-- Data for Name: Tunnel; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public."Tunnel" VALUES (4, 2, 'udp', '', 27003, '', '127.0.0.1:53', false, '', '', '', '', false, '2026-11-24 11:54:18.412', 0, 0, 'the key of the second client', false, NULL, false, false);
INSERT INTO public."Tunnel" VALUES (1, 1, 'tcp', 'to the web server', 27001, '', '127.0.0.1:27002', false, '', '', '', '', true, '2026-11-24 11:54:17.713', 100000, 100000, 'the key of the first client', false, 1, false, false);
INSERT INTO public."Tunnel" VALUES (2, 1, 'secret', '', 0, '', '127.0.0.1:22', false, 'the password of the tunnel', '', '', '', true, '2026-11-24 11:54:17.958', 0, 0, 'the key of the first client', false, 1, false, false);
INSERT INTO public."Tunnel" VALUES (3, 1, 'p2p', '', 0, '', '127.0.0.1:22', false, 'another password', '', '', '', true, '2026-11-24 11:54:18.253', 0, 0, 'the key of the first client', false, 1, false, false);


--
-- Data for Name: User; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public."User" VALUES (1, 'alice', '$argon2id$v=19$m=19456,t=2,p=1$io1ie6tRfAA5lYtMgGkdLw$hY8WTQ3uha4lBvLxHp0oIIZhdcary+4wXPEOtnwj9UI', true, 'a user', 5, 20, '2099-01-01 00:00:00', '2026-11-24 11:54:16.995', 1, 4, 1, false);


--
-- Data for Name: _prisma_migrations; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public._prisma_migrations VALUES ('cec8b9ec-77be-4bff-98db-19a1de880423', 'fb9aeddfc5d7e47dd9bb673c50cebf9b94a8cbbe906e942af37c1413cb18167b', '2026-11-24 11:54:14.034894+00', '0001_init', NULL, NULL, '2026-11-24 11:54:13.803457+00', 1);
INSERT INTO public._prisma_migrations VALUES ('86746a4b-f9f0-447a-9122-78a374d2df6b', 'c8d30874f0564cbc8ddc14f726e884a8da7d2d7d77847f2e590470fa70c78949', '2026-11-24 11:54:14.396486+00', '0002_lists_audit_traffic', NULL, NULL, '2026-11-24 11:54:13.803457+00', 1);
INSERT INTO public._prisma_migrations VALUES ('e5154c8f-5257-421f-82b2-2be7750978e3', 'e2948d8db0b0f5c30309a5f0b86c18b4e88b33d03eeef85f46fa202705ae0f33', '2026-11-24 11:54:14.490705+00', '0003_access', NULL, NULL, '2026-11-24 11:54:13.803457+00', 1);
INSERT INTO public._prisma_migrations VALUES ('2532326a-fd06-4417-af26-e057701208ce', 'c762a88bfa465b3310726ff17379551e2a156bd45640752dc9b43692dc08f31d', '2026-11-24 11:54:14.543254+00', '0004_expiry_web_login', NULL, NULL, '2026-11-24 11:54:13.803457+00', 1);
INSERT INTO public._prisma_migrations VALUES ('259aae69-0fd8-4a57-838c-1f63a9d16186', '5a7a2e50ad70acf1bfa946666f7bcecb6a7070381589515b314c2d7ad1bbb011', '2026-11-24 11:54:14.565246+00', '0005_host_acme', NULL, NULL, '2026-11-24 11:54:13.803457+00', 1);
INSERT INTO public._prisma_migrations VALUES ('c88a7b10-24bb-4633-939c-3b7376d71662', 'f2e28bbd4034024cb318ec436a8f1cb3af19a07c0b872942c57156d6a59430c3', '2026-11-24 11:54:14.570836+00', '0006_no_store', NULL, NULL, '2026-11-24 11:54:13.803457+00', 1);


--
-- Name: ApiToken_id_seq; Type: SEQUENCE SET; Schema: public; Owner: -
--

SELECT pg_catalog.setval('public."ApiToken_id_seq"', 1, true);


--
-- Name: AuditEntry_id_seq; Type: SEQUENCE SET; Schema: public; Owner: -
--

SELECT pg_catalog.setval('public."AuditEntry_id_seq"', 12, true);


--
-- Name: Client_id_seq; Type: SEQUENCE SET; Schema: public; Owner: -
--

SELECT pg_catalog.setval('public."Client_id_seq"', 2, true);


--
-- Name: Host_id_seq; Type: SEQUENCE SET; Schema: public; Owner: -
--

SELECT pg_catalog.setval('public."Host_id_seq"', 2, true);


--
-- Name: Tunnel_id_seq; Type: SEQUENCE SET; Schema: public; Owner: -
--

SELECT pg_catalog.setval('public."Tunnel_id_seq"', 4, true);


--
-- Name: User_id_seq; Type: SEQUENCE SET; Schema: public; Owner: -
--

SELECT pg_catalog.setval('public."User_id_seq"', 1, true);


--
-- Name: ApiToken ApiToken_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public."ApiToken"
    ADD CONSTRAINT "ApiToken_pkey" PRIMARY KEY (id);


--
-- Name: AuditEntry AuditEntry_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public."AuditEntry"
    ADD CONSTRAINT "AuditEntry_pkey" PRIMARY KEY (id);


--
-- Name: Client Client_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public."Client"
    ADD CONSTRAINT "Client_pkey" PRIMARY KEY (id);


--
-- Name: GlobalSettings GlobalSettings_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public."GlobalSettings"
    ADD CONSTRAINT "GlobalSettings_pkey" PRIMARY KEY (id);


--
-- Name: Host Host_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public."Host"
    ADD CONSTRAINT "Host_pkey" PRIMARY KEY (id);


--
-- Name: PlatformDomain PlatformDomain_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public."PlatformDomain"
    ADD CONSTRAINT "PlatformDomain_pkey" PRIMARY KEY (id);


--
-- Name: Session Session_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public."Session"
    ADD CONSTRAINT "Session_pkey" PRIMARY KEY (id);


--
-- Name: Total Total_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public."Total"
    ADD CONSTRAINT "Total_pkey" PRIMARY KEY (name);


--
-- Name: TrafficSample TrafficSample_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public."TrafficSample"
    ADD CONSTRAINT "TrafficSample_pkey" PRIMARY KEY (resource, "resourceId", step, at);


--
-- Name: Tunnel Tunnel_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public."Tunnel"
    ADD CONSTRAINT "Tunnel_pkey" PRIMARY KEY (id);


--
-- Name: User User_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public."User"
    ADD CONSTRAINT "User_pkey" PRIMARY KEY (id);


--
-- Name: _prisma_migrations _prisma_migrations_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public._prisma_migrations
    ADD CONSTRAINT _prisma_migrations_pkey PRIMARY KEY (id);


--
-- Name: ApiToken_hash_key; Type: INDEX; Schema: public; Owner: -
--

CREATE UNIQUE INDEX "ApiToken_hash_key" ON public."ApiToken" USING btree (hash);


--
-- Name: ApiToken_userId_id_idx; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX "ApiToken_userId_id_idx" ON public."ApiToken" USING btree ("userId", id);


--
-- Name: AuditEntry_at_idx; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX "AuditEntry_at_idx" ON public."AuditEntry" USING btree (at);


--
-- Name: AuditEntry_callerKind_callerId_id_idx; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX "AuditEntry_callerKind_callerId_id_idx" ON public."AuditEntry" USING btree ("callerKind", "callerId", id);


--
-- Name: AuditEntry_resource_resourceId_id_idx; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX "AuditEntry_resource_resourceId_id_idx" ON public."AuditEntry" USING btree (resource, "resourceId", id);


--
-- Name: Client_agentVersion_order; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX "Client_agentVersion_order" ON public."Client" USING btree (lower(substr("agentVersion", 1, 200)) COLLATE "C", id);


--
-- Name: Client_connected_id_idx; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX "Client_connected_id_idx" ON public."Client" USING btree (connected, id);


--
-- Name: Client_expired_expiresAt_idx; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX "Client_expired_expiresAt_idx" ON public."Client" USING btree (expired, "expiresAt");


--
-- Name: Client_exportBytes_id_idx; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX "Client_exportBytes_id_idx" ON public."Client" USING btree ("exportBytes", id);


--
-- Name: Client_inletBytes_id_idx; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX "Client_inletBytes_id_idx" ON public."Client" USING btree ("inletBytes", id);


--
-- Name: Client_lastAddress_order; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX "Client_lastAddress_order" ON public."Client" USING btree (lower(substr("lastAddress", 1, 200)) COLLATE "C", id);


--
-- Name: Client_localAddress_order; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX "Client_localAddress_order" ON public."Client" USING btree (lower(substr("localAddress", 1, 200)) COLLATE "C", id);


--
-- Name: Client_rate_id_idx; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX "Client_rate_id_idx" ON public."Client" USING btree (rate, id);


--
-- Name: Client_remark_order; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX "Client_remark_order" ON public."Client" USING btree (lower(substr(remark, 1, 200)) COLLATE "C", id);


--
-- Name: Client_status_order; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX "Client_status_order" ON public."Client" USING btree (((enabled AND (NOT expired))), id);


--
-- Name: Client_userId_connected_id_idx; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX "Client_userId_connected_id_idx" ON public."Client" USING btree ("userId", connected, id);


--
-- Name: Client_userId_id_idx; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX "Client_userId_id_idx" ON public."Client" USING btree ("userId", id);


--
-- Name: Client_userId_remark_order; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX "Client_userId_remark_order" ON public."Client" USING btree ("userId", lower(substr(remark, 1, 200)) COLLATE "C", id);


--
-- Name: Client_userId_status_order; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX "Client_userId_status_order" ON public."Client" USING btree ("userId", ((enabled AND (NOT expired))), id);


--
-- Name: Client_userId_vkey_order; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX "Client_userId_vkey_order" ON public."Client" USING btree ("userId", lower(substr(vkey, 1, 200)) COLLATE "C", id);


--
-- Name: Client_vkey_key; Type: INDEX; Schema: public; Owner: -
--

CREATE UNIQUE INDEX "Client_vkey_key" ON public."Client" USING btree (vkey);


--
-- Name: Client_vkey_order; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX "Client_vkey_order" ON public."Client" USING btree (lower(substr(vkey, 1, 200)) COLLATE "C", id);


--
-- Name: Client_webUsername_id_idx; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX "Client_webUsername_id_idx" ON public."Client" USING btree ("webUsername", id);


--
-- Name: Host_clientId_id_idx; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX "Host_clientId_id_idx" ON public."Host" USING btree ("clientId", id);


--
-- Name: Host_clientKey_order; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX "Host_clientKey_order" ON public."Host" USING btree (lower(substr("clientKey", 1, 200)) COLLATE "C", id);


--
-- Name: Host_clientOnline_id_idx; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX "Host_clientOnline_id_idx" ON public."Host" USING btree ("clientOnline", id);


--
-- Name: Host_host_idx; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX "Host_host_idx" ON public."Host" USING btree (host);


--
-- Name: Host_host_order; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX "Host_host_order" ON public."Host" USING btree (lower(substr(host, 1, 200)) COLLATE "C", id);


--
-- Name: Host_location_order; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX "Host_location_order" ON public."Host" USING btree (lower(substr(location, 1, 200)) COLLATE "C", id);


--
-- Name: Host_ownerId_clientId_id_idx; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX "Host_ownerId_clientId_id_idx" ON public."Host" USING btree ("ownerId", "clientId", id);


--
-- Name: Host_ownerId_clientKey_order; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX "Host_ownerId_clientKey_order" ON public."Host" USING btree ("ownerId", lower(substr("clientKey", 1, 200)) COLLATE "C", id);


--
-- Name: Host_ownerId_clientOnline_id_idx; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX "Host_ownerId_clientOnline_id_idx" ON public."Host" USING btree ("ownerId", "clientOnline", id);


--
-- Name: Host_ownerId_host_order; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX "Host_ownerId_host_order" ON public."Host" USING btree ("ownerId", lower(substr(host, 1, 200)) COLLATE "C", id);


--
-- Name: Host_ownerId_id_idx; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX "Host_ownerId_id_idx" ON public."Host" USING btree ("ownerId", id);


--
-- Name: Host_ownerId_location_order; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX "Host_ownerId_location_order" ON public."Host" USING btree ("ownerId", lower(substr(location, 1, 200)) COLLATE "C", id);


--
-- Name: Host_ownerId_remark_order; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX "Host_ownerId_remark_order" ON public."Host" USING btree ("ownerId", lower(substr(remark, 1, 200)) COLLATE "C", id);


--
-- Name: Host_ownerId_scheme_id_idx; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX "Host_ownerId_scheme_id_idx" ON public."Host" USING btree ("ownerId", scheme, id);


--
-- Name: Host_ownerId_stopped_order; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX "Host_ownerId_stopped_order" ON public."Host" USING btree ("ownerId", ((NOT enabled)), id);


--
-- Name: Host_ownerId_target_order; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX "Host_ownerId_target_order" ON public."Host" USING btree ("ownerId", lower(substr(target, 1, 200)) COLLATE "C", id);


--
-- Name: Host_platformDomainId_platformPrefix_key; Type: INDEX; Schema: public; Owner: -
--

CREATE UNIQUE INDEX "Host_platformDomainId_platformPrefix_key" ON public."Host" USING btree ("platformDomainId", "platformPrefix");


--
-- Name: Host_remark_order; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX "Host_remark_order" ON public."Host" USING btree (lower(substr(remark, 1, 200)) COLLATE "C", id);


--
-- Name: Host_scheme_id_idx; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX "Host_scheme_id_idx" ON public."Host" USING btree (scheme, id);


--
-- Name: Host_stopped_order; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX "Host_stopped_order" ON public."Host" USING btree (((NOT enabled)), id);


--
-- Name: Host_target_order; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX "Host_target_order" ON public."Host" USING btree (lower(substr(target, 1, 200)) COLLATE "C", id);


--
-- Name: PlatformDomain_wildcard_key; Type: INDEX; Schema: public; Owner: -
--

CREATE UNIQUE INDEX "PlatformDomain_wildcard_key" ON public."PlatformDomain" USING btree (wildcard);


--
-- Name: Session_clientId_idx; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX "Session_clientId_idx" ON public."Session" USING btree ("clientId");


--
-- Name: Session_lastSeenAt_idx; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX "Session_lastSeenAt_idx" ON public."Session" USING btree ("lastSeenAt");


--
-- Name: Session_userId_idx; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX "Session_userId_idx" ON public."Session" USING btree ("userId");


--
-- Name: TrafficSample_step_at_idx; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX "TrafficSample_step_at_idx" ON public."TrafficSample" USING btree (step, at);


--
-- Name: Tunnel_clientId_id_idx; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX "Tunnel_clientId_id_idx" ON public."Tunnel" USING btree ("clientId", id);


--
-- Name: Tunnel_clientId_mode_id_idx; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX "Tunnel_clientId_mode_id_idx" ON public."Tunnel" USING btree ("clientId", mode, id);


--
-- Name: Tunnel_clientKey_order; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX "Tunnel_clientKey_order" ON public."Tunnel" USING btree (lower(substr("clientKey", 1, 200)) COLLATE "C", id);


--
-- Name: Tunnel_clientOnline_id_idx; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX "Tunnel_clientOnline_id_idx" ON public."Tunnel" USING btree ("clientOnline", id);


--
-- Name: Tunnel_enabled_id_idx; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX "Tunnel_enabled_id_idx" ON public."Tunnel" USING btree (enabled, id);


--
-- Name: Tunnel_mode_clientId_id_idx; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX "Tunnel_mode_clientId_id_idx" ON public."Tunnel" USING btree (mode, "clientId", id);


--
-- Name: Tunnel_mode_clientKey_order; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX "Tunnel_mode_clientKey_order" ON public."Tunnel" USING btree (mode, lower(substr("clientKey", 1, 200)) COLLATE "C", id);


--
-- Name: Tunnel_mode_clientOnline_id_idx; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX "Tunnel_mode_clientOnline_id_idx" ON public."Tunnel" USING btree (mode, "clientOnline", id);


--
-- Name: Tunnel_mode_enabled_id_idx; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX "Tunnel_mode_enabled_id_idx" ON public."Tunnel" USING btree (mode, enabled, id);


--
-- Name: Tunnel_mode_id_idx; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX "Tunnel_mode_id_idx" ON public."Tunnel" USING btree (mode, id);


--
-- Name: Tunnel_mode_password_order; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX "Tunnel_mode_password_order" ON public."Tunnel" USING btree (mode, lower(substr(password, 1, 200)) COLLATE "C", id);


--
-- Name: Tunnel_mode_port_id_idx; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX "Tunnel_mode_port_id_idx" ON public."Tunnel" USING btree (mode, port, id);


--
-- Name: Tunnel_mode_remark_order; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX "Tunnel_mode_remark_order" ON public."Tunnel" USING btree (mode, lower(substr(remark, 1, 200)) COLLATE "C", id);


--
-- Name: Tunnel_mode_running_id_idx; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX "Tunnel_mode_running_id_idx" ON public."Tunnel" USING btree (mode, running, id);


--
-- Name: Tunnel_mode_target_order; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX "Tunnel_mode_target_order" ON public."Tunnel" USING btree (mode, lower(substr(target, 1, 200)) COLLATE "C", id);


--
-- Name: Tunnel_ownerId_clientId_id_idx; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX "Tunnel_ownerId_clientId_id_idx" ON public."Tunnel" USING btree ("ownerId", "clientId", id);


--
-- Name: Tunnel_ownerId_clientKey_order; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX "Tunnel_ownerId_clientKey_order" ON public."Tunnel" USING btree ("ownerId", lower(substr("clientKey", 1, 200)) COLLATE "C", id);


--
-- Name: Tunnel_ownerId_clientOnline_id_idx; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX "Tunnel_ownerId_clientOnline_id_idx" ON public."Tunnel" USING btree ("ownerId", "clientOnline", id);


--
-- Name: Tunnel_ownerId_enabled_id_idx; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX "Tunnel_ownerId_enabled_id_idx" ON public."Tunnel" USING btree ("ownerId", enabled, id);


--
-- Name: Tunnel_ownerId_id_idx; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX "Tunnel_ownerId_id_idx" ON public."Tunnel" USING btree ("ownerId", id);


--
-- Name: Tunnel_ownerId_mode_id_idx; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX "Tunnel_ownerId_mode_id_idx" ON public."Tunnel" USING btree ("ownerId", mode, id);


--
-- Name: Tunnel_ownerId_password_order; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX "Tunnel_ownerId_password_order" ON public."Tunnel" USING btree ("ownerId", lower(substr(password, 1, 200)) COLLATE "C", id);


--
-- Name: Tunnel_ownerId_port_id_idx; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX "Tunnel_ownerId_port_id_idx" ON public."Tunnel" USING btree ("ownerId", port, id);


--
-- Name: Tunnel_ownerId_remark_order; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX "Tunnel_ownerId_remark_order" ON public."Tunnel" USING btree ("ownerId", lower(substr(remark, 1, 200)) COLLATE "C", id);


--
-- Name: Tunnel_ownerId_running_id_idx; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX "Tunnel_ownerId_running_id_idx" ON public."Tunnel" USING btree ("ownerId", running, id);


--
-- Name: Tunnel_ownerId_target_order; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX "Tunnel_ownerId_target_order" ON public."Tunnel" USING btree ("ownerId", lower(substr(target, 1, 200)) COLLATE "C", id);


--
-- Name: Tunnel_password_key; Type: INDEX; Schema: public; Owner: -
--

CREATE UNIQUE INDEX "Tunnel_password_key" ON public."Tunnel" USING btree (password) WHERE ((mode = ANY (ARRAY['secret'::text, 'p2p'::text])) AND (password <> ''::text));


--
-- Name: Tunnel_password_order; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX "Tunnel_password_order" ON public."Tunnel" USING btree (lower(substr(password, 1, 200)) COLLATE "C", id);


--
-- Name: Tunnel_port_id_idx; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX "Tunnel_port_id_idx" ON public."Tunnel" USING btree (port, id);


--
-- Name: Tunnel_remark_order; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX "Tunnel_remark_order" ON public."Tunnel" USING btree (lower(substr(remark, 1, 200)) COLLATE "C", id);


--
-- Name: Tunnel_running_id_idx; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX "Tunnel_running_id_idx" ON public."Tunnel" USING btree (running, id);


--
-- Name: Tunnel_target_order; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX "Tunnel_target_order" ON public."Tunnel" USING btree (lower(substr(target, 1, 200)) COLLATE "C", id);


--
-- Name: User_clientCount_id_idx; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX "User_clientCount_id_idx" ON public."User" USING btree ("clientCount", id);


--
-- Name: User_createdAt_id_idx; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX "User_createdAt_id_idx" ON public."User" USING btree ("createdAt", id);


--
-- Name: User_expired_expiresAt_idx; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX "User_expired_expiresAt_idx" ON public."User" USING btree (expired, "expiresAt");


--
-- Name: User_expiresAt_order; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX "User_expiresAt_order" ON public."User" USING btree (COALESCE("expiresAt", '-infinity'::timestamp without time zone), id);


--
-- Name: User_maxClients_id_idx; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX "User_maxClients_id_idx" ON public."User" USING btree ("maxClients", id);


--
-- Name: User_maxTunnels_id_idx; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX "User_maxTunnels_id_idx" ON public."User" USING btree ("maxTunnels", id);


--
-- Name: User_remark_order; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX "User_remark_order" ON public."User" USING btree (lower(substr(remark, 1, 200)) COLLATE "C", id);


--
-- Name: User_status_order; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX "User_status_order" ON public."User" USING btree (((enabled AND (NOT expired))), id);


--
-- Name: User_tunnelCount_id_idx; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX "User_tunnelCount_id_idx" ON public."User" USING btree ("tunnelCount", id);


--
-- Name: User_username_key; Type: INDEX; Schema: public; Owner: -
--

CREATE UNIQUE INDEX "User_username_key" ON public."User" USING btree (username);


--
-- Name: User_username_order; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX "User_username_order" ON public."User" USING btree (lower(substr(username, 1, 200)) COLLATE "C", id);


--
-- Name: Client Client_copies; Type: TRIGGER; Schema: public; Owner: -
--

CREATE TRIGGER "Client_copies" AFTER UPDATE OF "userId", vkey, connected ON public."Client" FOR EACH ROW WHEN (((old."userId" IS DISTINCT FROM new."userId") OR (old.vkey <> new.vkey) OR (old.connected <> new.connected))) EXECUTE FUNCTION public.adit_copy_to_routes();


--
-- Name: Host Host_client; Type: TRIGGER; Schema: public; Owner: -
--

CREATE TRIGGER "Host_client" BEFORE INSERT OR UPDATE OF "clientId" ON public."Host" FOR EACH ROW EXECUTE FUNCTION public.adit_copy_of_client();


--
-- Name: Tunnel Tunnel_client; Type: TRIGGER; Schema: public; Owner: -
--

CREATE TRIGGER "Tunnel_client" BEFORE INSERT OR UPDATE OF "clientId" ON public."Tunnel" FOR EACH ROW EXECUTE FUNCTION public.adit_copy_of_client();


--
-- Name: ApiToken ApiToken_userId_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public."ApiToken"
    ADD CONSTRAINT "ApiToken_userId_fkey" FOREIGN KEY ("userId") REFERENCES public."User"(id) ON UPDATE CASCADE ON DELETE CASCADE;


--
-- Name: Client Client_userId_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public."Client"
    ADD CONSTRAINT "Client_userId_fkey" FOREIGN KEY ("userId") REFERENCES public."User"(id) ON UPDATE CASCADE ON DELETE SET NULL;


--
-- Name: Host Host_clientId_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public."Host"
    ADD CONSTRAINT "Host_clientId_fkey" FOREIGN KEY ("clientId") REFERENCES public."Client"(id) ON UPDATE CASCADE ON DELETE CASCADE;


--
-- Name: Host Host_platformDomainId_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public."Host"
    ADD CONSTRAINT "Host_platformDomainId_fkey" FOREIGN KEY ("platformDomainId") REFERENCES public."PlatformDomain"(id) ON UPDATE CASCADE ON DELETE RESTRICT;


--
-- Name: Session Session_clientId_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public."Session"
    ADD CONSTRAINT "Session_clientId_fkey" FOREIGN KEY ("clientId") REFERENCES public."Client"(id) ON UPDATE CASCADE ON DELETE CASCADE;


--
-- Name: Session Session_userId_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public."Session"
    ADD CONSTRAINT "Session_userId_fkey" FOREIGN KEY ("userId") REFERENCES public."User"(id) ON UPDATE CASCADE ON DELETE CASCADE;


--
-- Name: Tunnel Tunnel_clientId_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public."Tunnel"
    ADD CONSTRAINT "Tunnel_clientId_fkey" FOREIGN KEY ("clientId") REFERENCES public."Client"(id) ON UPDATE CASCADE ON DELETE CASCADE;


--
-- PostgreSQL database dump complete
--


