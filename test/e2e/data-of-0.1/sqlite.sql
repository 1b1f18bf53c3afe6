CREATE TABLE "_prisma_migrations" (
    "id" TEXT PRIMARY KEY NOT NULL,
    "checksum" TEXT NOT NULL,
    "finished_at" DATETIME,
    "migration_name" TEXT NOT NULL,
    "logs" TEXT,
    "rolled_back_at" DATETIME,
    "started_at" DATETIME NOT NULL DEFAULT current_timestamp,
    "applied_steps_count" INTEGER UNSIGNED NOT NULL DEFAULT 0
  );
CREATE TABLE "User" (
    "id" INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    "username" TEXT NOT NULL,
    "passwordHash" TEXT NOT NULL,
    "enabled" BOOLEAN NOT NULL DEFAULT true,
    "remark" TEXT NOT NULL DEFAULT '',
    "maxClients" INTEGER NOT NULL DEFAULT 0,
    "maxTunnels" INTEGER NOT NULL DEFAULT 0,
    "expiresAt" DATETIME,
    "createdAt" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "clientCount" INTEGER NOT NULL DEFAULT 0,
    "tunnelCount" INTEGER NOT NULL DEFAULT 0
, "hostCount" INTEGER NOT NULL DEFAULT 0, "expired" BOOLEAN NOT NULL DEFAULT false);
CREATE TABLE "Client" (
    "id" INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    "vkey" TEXT NOT NULL,
    "remark" TEXT NOT NULL DEFAULT '',
    "enabled" BOOLEAN NOT NULL DEFAULT true,
    "disabledByAdmin" BOOLEAN NOT NULL DEFAULT false,
    "basicUser" TEXT NOT NULL DEFAULT '',
    "basicPassword" TEXT NOT NULL DEFAULT '',
    "compress" BOOLEAN NOT NULL DEFAULT false,
    "crypt" BOOLEAN NOT NULL DEFAULT false,
    "configAllowed" BOOLEAN NOT NULL DEFAULT false,
    "rateLimit" INTEGER NOT NULL DEFAULT 0,
    "flowLimit" INTEGER NOT NULL DEFAULT 0,
    "maxConnections" INTEGER NOT NULL DEFAULT 0,
    "maxTunnels" INTEGER NOT NULL DEFAULT 0,
    "webUsername" TEXT NOT NULL DEFAULT '',
    "webPasswordHash" TEXT NOT NULL DEFAULT '',
    "blackIpList" TEXT NOT NULL DEFAULT '',
    "ipWhite" BOOLEAN NOT NULL DEFAULT false,
    "ipWhitePassword" TEXT NOT NULL DEFAULT '',
    "ipWhiteList" TEXT NOT NULL DEFAULT '',
    "expiresAt" DATETIME,
    "createdAt" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "lastOnlineAt" DATETIME,
    "lastAddress" TEXT NOT NULL DEFAULT '',
    "localAddress" TEXT NOT NULL DEFAULT '',
    "agentVersion" TEXT NOT NULL DEFAULT '',
    "inletBytes" BIGINT NOT NULL DEFAULT 0,
    "exportBytes" BIGINT NOT NULL DEFAULT 0,
    "tunnelCount" INTEGER NOT NULL DEFAULT 0,
    "hostCount" INTEGER NOT NULL DEFAULT 0,
    "userId" INTEGER, "connected" BOOLEAN NOT NULL DEFAULT false, "rate" BIGINT NOT NULL DEFAULT 0, "expired" BOOLEAN NOT NULL DEFAULT false,
    CONSTRAINT "Client_userId_fkey" FOREIGN KEY ("userId") REFERENCES "User" ("id") ON DELETE SET NULL ON UPDATE CASCADE
);
CREATE TABLE "Tunnel" (
    "id" INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    "clientId" INTEGER NOT NULL,
    "mode" TEXT NOT NULL,
    "remark" TEXT NOT NULL DEFAULT '',
    "port" INTEGER NOT NULL DEFAULT 0,
    "serverIp" TEXT NOT NULL DEFAULT '',
    "target" TEXT NOT NULL DEFAULT '',
    "localProxy" BOOLEAN NOT NULL DEFAULT false,
    "password" TEXT NOT NULL DEFAULT '',
    "localPath" TEXT NOT NULL DEFAULT '',
    "stripPrefix" TEXT NOT NULL DEFAULT '',
    "proxyProtocol" TEXT NOT NULL DEFAULT '',
    "enabled" BOOLEAN NOT NULL DEFAULT true,
    "createdAt" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "inletBytes" BIGINT NOT NULL DEFAULT 0,
    "exportBytes" BIGINT NOT NULL DEFAULT 0, "running" BOOLEAN NOT NULL DEFAULT false, "ownerId" INTEGER, "clientKey" TEXT NOT NULL DEFAULT '', "clientOnline" BOOLEAN NOT NULL DEFAULT false, "noStore" BOOLEAN NOT NULL DEFAULT false,
    CONSTRAINT "Tunnel_clientId_fkey" FOREIGN KEY ("clientId") REFERENCES "Client" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);
CREATE TABLE "Host" (
    "id" INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    "clientId" INTEGER NOT NULL,
    "host" TEXT NOT NULL,
    "location" TEXT NOT NULL DEFAULT '/',
    "scheme" TEXT NOT NULL DEFAULT 'all',
    "remark" TEXT NOT NULL DEFAULT '',
    "target" TEXT NOT NULL DEFAULT '',
    "localProxy" BOOLEAN NOT NULL DEFAULT false,
    "headerChange" TEXT NOT NULL DEFAULT '',
    "hostChange" TEXT NOT NULL DEFAULT '',
    "keyFilePath" TEXT NOT NULL DEFAULT '',
    "certFilePath" TEXT NOT NULL DEFAULT '',
    "autoHttps" BOOLEAN NOT NULL DEFAULT false,
    "enabled" BOOLEAN NOT NULL DEFAULT true,
    "createdAt" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "inletBytes" BIGINT NOT NULL DEFAULT 0,
    "exportBytes" BIGINT NOT NULL DEFAULT 0,
    "platformDomainId" TEXT,
    "platformPrefix" TEXT, "ownerId" INTEGER, "clientKey" TEXT NOT NULL DEFAULT '', "clientOnline" BOOLEAN NOT NULL DEFAULT false, "acme" BOOLEAN NOT NULL DEFAULT false, "noStore" BOOLEAN NOT NULL DEFAULT false,
    CONSTRAINT "Host_clientId_fkey" FOREIGN KEY ("clientId") REFERENCES "Client" ("id") ON DELETE CASCADE ON UPDATE CASCADE,
    CONSTRAINT "Host_platformDomainId_fkey" FOREIGN KEY ("platformDomainId") REFERENCES "PlatformDomain" ("id") ON DELETE RESTRICT ON UPDATE CASCADE
);
CREATE TABLE "PlatformDomain" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "wildcard" TEXT NOT NULL,
    "certFilePath" TEXT NOT NULL DEFAULT '',
    "keyFilePath" TEXT NOT NULL DEFAULT ''
);
CREATE TABLE "GlobalSettings" (
    "id" INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT DEFAULT 1,
    "blackIpList" TEXT NOT NULL DEFAULT '',
    "serverUrl" TEXT NOT NULL DEFAULT ''
);
CREATE TABLE "Total" (
    "name" TEXT NOT NULL PRIMARY KEY,
    "value" INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE "AuditEntry" (
    "id" INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    "at" DATETIME NOT NULL,
    "callerKind" TEXT NOT NULL,
    "callerId" INTEGER,
    "method" TEXT NOT NULL,
    "address" TEXT NOT NULL,
    "resource" TEXT NOT NULL,
    "resourceId" TEXT NOT NULL,
    "action" TEXT NOT NULL,
    "before" TEXT,
    "after" TEXT
);
CREATE TABLE "TrafficSample" (
    "resource" TEXT NOT NULL,
    "resourceId" INTEGER NOT NULL,
    "step" TEXT NOT NULL,
    "at" INTEGER NOT NULL,
    "inletBytes" BIGINT NOT NULL,
    "exportBytes" BIGINT NOT NULL,

    PRIMARY KEY ("resource", "resourceId", "step", "at")
);
CREATE TABLE "Session" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "kind" TEXT NOT NULL,
    "userId" INTEGER,
    "clientId" INTEGER,
    "stamp" TEXT NOT NULL DEFAULT '',
    "createdAt" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "lastSeenAt" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
    CONSTRAINT "Session_userId_fkey" FOREIGN KEY ("userId") REFERENCES "User" ("id") ON DELETE CASCADE ON UPDATE CASCADE,
    CONSTRAINT "Session_clientId_fkey" FOREIGN KEY ("clientId") REFERENCES "Client" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);
CREATE TABLE "ApiToken" (
    "id" INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    "userId" INTEGER,
    "name" TEXT NOT NULL,
    "hash" TEXT NOT NULL,
    "readOnly" BOOLEAN NOT NULL DEFAULT false,
    "legacy" BOOLEAN NOT NULL DEFAULT false,
    "expiresAt" DATETIME,
    "createdAt" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "lastUsedAt" DATETIME,
    CONSTRAINT "ApiToken_userId_fkey" FOREIGN KEY ("userId") REFERENCES "User" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);
INSERT INTO "_prisma_migrations" VALUES ('8073888f-a03e-449e-9ff7-a301eeeda129', 'c6d832da816cea85a7069bc8be6f29b1e6387f81c9f9e1d356e2c4980cb8eea6', 1795521237000, '0001_init', NULL, NULL, 1795521237000, 1);
INSERT INTO "_prisma_migrations" VALUES ('1f2460ae-85d5-41c8-a596-1333c7a4c63e', 'db18bbd609b9cd52a8acd12b0c72b81cb8414b640fc5749838491ef4904dbf9d', 1795521237000, '0002_lists_audit_traffic', NULL, NULL, 1795521237000, 1);
INSERT INTO "_prisma_migrations" VALUES ('dbfdf8b5-5b18-42da-8a37-448d1f57c65d', '99b08fec34be6a42ab010d1fa5e6502eb0788fc0c551c841111f6b1e4e732652', 1795521237000, '0003_access', NULL, NULL, 1795521237000, 1);
INSERT INTO "_prisma_migrations" VALUES ('8f1fe9a9-9c2a-462a-8c98-9140e099cfec', 'f2d07f487a7fff7a619bf6f251021d84e87fd7788517697e0ff0b59463b00691', 1795521237000, '0004_expiry_web_login', NULL, NULL, 1795521237000, 1);
INSERT INTO "_prisma_migrations" VALUES ('6b1d2b05-d1c4-4e96-92eb-cd172d033165', '2b2d20dea03e56dcf8dfdb194de95cbe321d606a1e84ce4fc0b4d3c19d241e02', 1795521237000, '0005_host_acme', NULL, NULL, 1795521237000, 1);
INSERT INTO "_prisma_migrations" VALUES ('f93c617b-7ae0-4142-8d8c-ca0606a67870', '03efbac146fab8a43e7089a1532011a86d5f3b4d392e52f594f5648eb065f281', 1795521237000, '0006_no_store', NULL, NULL, 1795521237000, 1);
INSERT INTO "User" VALUES (1, 'alice', '$argon2id$v=19$m=19456,t=2,p=1$ge8AuJyyn9f0Ru0PUXS8hg$90+aWekPruA6bB9occ1P1XeI0fkxxhdqUXnfFpVMVUo', 1, 'a user', 5, 20, '2099-01-01T00:00:00.000+00:00', '2026-11-24T11:53:59.564+00:00', 1, 4, 1, 0);
INSERT INTO "Client" VALUES (1, 'the key of the first client', 'first', 1, 0, 'proxy', 'its password', 0, 0, 0, 5000, 0, 0, 0, '', '', '', 0, '', '', NULL, '2026-11-24T11:53:59.833+00:00', '2026-11-24T11:54:03.985+00:00', '127.0.0.1', '192.0.2.2', '0.1.0', 100000, 100000, 4, 1, 1, 0, 0, 0);
INSERT INTO "Client" VALUES (2, 'the key of the second client', 'second', 1, 0, '', '', 0, 0, 0, 0, 0, 7, 0, '', '', '192.0.2.0/24', 0, '', '', NULL, '2026-11-24T11:53:59.982+00:00', NULL, '', '', '', 0, 0, 2, 1, NULL, 0, 0, 0);
INSERT INTO "Tunnel" VALUES (1, 1, 'tcp', 'to the web server', 27001, '', '127.0.0.1:27002', 0, '', '', '', '', 1, '2026-11-24T11:54:00.164+00:00', 100000, 100000, 0, 1, 'the key of the first client', 0, 0);
INSERT INTO "Tunnel" VALUES (2, 1, 'secret', '', 0, '', '127.0.0.1:22', 0, 'the password of the tunnel', '', '', '', 1, '2026-11-24T11:54:00.200+00:00', 0, 0, 0, 1, 'the key of the first client', 0, 0);
INSERT INTO "Tunnel" VALUES (3, 1, 'p2p', '', 0, '', '127.0.0.1:22', 0, 'another password', '', '', '', 1, '2026-11-24T11:54:00.264+00:00', 0, 0, 0, 1, 'the key of the first client', 0, 0);
INSERT INTO "Tunnel" VALUES (4, 2, 'udp', '', 27003, '', '127.0.0.1:53', 0, '', '', '', '', 0, '2026-11-24T11:54:00.351+00:00', 0, 0, 0, NULL, 'the key of the second client', 0, 0);
INSERT INTO "Host" VALUES (1, 1, 'www.example.com', '/path', 'all', '', '127.0.0.1:80', 0, 'X-One: 1', 'inner.example', '', '', 0, 1, '2026-11-24T11:54:00.517+00:00', 0, 0, NULL, NULL, 1, 'the key of the first client', 0, 0, 0);
INSERT INTO "Host" VALUES (2, 2, '*.example.org', '/', 'http', '', '127.0.0.1:80
127.0.0.1:81', 0, '', '', '', '', 0, 1, '2026-11-24T11:54:00.630+00:00', 0, 0, NULL, NULL, NULL, 'the key of the second client', 0, 0, 0);
INSERT INTO "GlobalSettings" VALUES (1, '198.51.100.7', 'tunnel.example.com');
INSERT INTO "Total" VALUES ('users', 1);
INSERT INTO "Total" VALUES ('audit', 12);
INSERT INTO "Total" VALUES ('clients', 2);
INSERT INTO "Total" VALUES ('tunnels', 4);
INSERT INTO "Total" VALUES ('tunnels:tcp', 1);
INSERT INTO "Total" VALUES ('tunnels:secret', 1);
INSERT INTO "Total" VALUES ('tunnels:p2p', 1);
INSERT INTO "Total" VALUES ('tunnels:udp', 1);
INSERT INTO "Total" VALUES ('hosts', 2);
INSERT INTO "AuditEntry" VALUES (1, '2026-11-24T11:53:59.639+00:00', 'admin', NULL, 'signature', '127.0.0.1', 'user', '1', 'create', NULL, '{"id":1,"username":"alice","passwordHash":"(hidden)","enabled":true,"remark":"a user","maxClients":5,"maxTunnels":20,"expiresAt":"2099-01-01T00:00:00.000Z","expired":false}');
INSERT INTO "AuditEntry" VALUES (2, '2026-11-24T11:53:59.873+00:00', 'admin', NULL, 'signature', '127.0.0.1', 'client', '1', 'create', NULL, '{"id":1,"vkey":"(hidden)","remark":"first","enabled":true,"disabledByAdmin":false,"basicUser":"proxy","basicPassword":"(hidden)","compress":false,"crypt":false,"configAllowed":false,"rateLimit":5000,"flowLimit":0,"maxConnections":0,"maxTunnels":0,"webUsername":"","webPasswordHash":"","blackIpList":"","ipWhite":false,"ipWhitePassword":"","ipWhiteList":"","expiresAt":null,"expired":false,"userId":1}');
INSERT INTO "AuditEntry" VALUES (3, '2026-11-24T11:54:00.029+00:00', 'admin', NULL, 'signature', '127.0.0.1', 'client', '2', 'create', NULL, '{"id":2,"vkey":"(hidden)","remark":"second","enabled":true,"disabledByAdmin":false,"basicUser":"","basicPassword":"","compress":false,"crypt":false,"configAllowed":false,"rateLimit":0,"flowLimit":0,"maxConnections":7,"maxTunnels":0,"webUsername":"","webPasswordHash":"","blackIpList":"192.0.2.0/24","ipWhite":false,"ipWhitePassword":"","ipWhiteList":"","expiresAt":null,"expired":false,"userId":null}');
INSERT INTO "AuditEntry" VALUES (4, '2026-11-24T11:54:00.168+00:00', 'admin', NULL, 'signature', '127.0.0.1', 'tunnel', '1', 'create', NULL, '{"id":1,"clientId":1,"mode":"tcp","remark":"to the web server","port":27001,"serverIp":"","target":"127.0.0.1:27002","localProxy":false,"password":"","localPath":"","stripPrefix":"","proxyProtocol":"","enabled":true,"noStore":false}');
INSERT INTO "AuditEntry" VALUES (5, '2026-11-24T11:54:00.204+00:00', 'admin', NULL, 'signature', '127.0.0.1', 'tunnel', '2', 'create', NULL, '{"id":2,"clientId":1,"mode":"secret","remark":"","port":0,"serverIp":"","target":"127.0.0.1:22","localProxy":false,"password":"(hidden)","localPath":"","stripPrefix":"","proxyProtocol":"","enabled":true,"noStore":false}');
INSERT INTO "AuditEntry" VALUES (6, '2026-11-24T11:54:00.296+00:00', 'admin', NULL, 'signature', '127.0.0.1', 'tunnel', '3', 'create', NULL, '{"id":3,"clientId":1,"mode":"p2p","remark":"","port":0,"serverIp":"","target":"127.0.0.1:22","localProxy":false,"password":"(hidden)","localPath":"","stripPrefix":"","proxyProtocol":"","enabled":true,"noStore":false}');
INSERT INTO "AuditEntry" VALUES (7, '2026-11-24T11:54:00.357+00:00', 'admin', NULL, 'signature', '127.0.0.1', 'tunnel', '4', 'create', NULL, '{"id":4,"clientId":2,"mode":"udp","remark":"","port":27003,"serverIp":"","target":"127.0.0.1:53","localProxy":false,"password":"","localPath":"","stripPrefix":"","proxyProtocol":"","enabled":true,"noStore":false}');
INSERT INTO "AuditEntry" VALUES (8, '2026-11-24T11:54:00.408+00:00', 'admin', NULL, 'signature', '127.0.0.1', 'tunnel', '4', 'update', '{"id":4,"clientId":2,"mode":"udp","remark":"","port":27003,"serverIp":"","target":"127.0.0.1:53","localProxy":false,"password":"","localPath":"","stripPrefix":"","proxyProtocol":"","enabled":true,"noStore":false}', '{"id":4,"clientId":2,"mode":"udp","remark":"","port":27003,"serverIp":"","target":"127.0.0.1:53","localProxy":false,"password":"","localPath":"","stripPrefix":"","proxyProtocol":"","enabled":false,"noStore":false}');
INSERT INTO "AuditEntry" VALUES (9, '2026-11-24T11:54:00.547+00:00', 'admin', NULL, 'signature', '127.0.0.1', 'host', '1', 'create', NULL, '{"id":1,"clientId":1,"host":"www.example.com","location":"/path","scheme":"all","remark":"","target":"127.0.0.1:80","localProxy":false,"headerChange":"(hidden)","hostChange":"inner.example","keyFilePath":"","certFilePath":"","autoHttps":false,"acme":false,"enabled":true,"platformDomainId":null,"platformPrefix":null,"noStore":false}');
INSERT INTO "AuditEntry" VALUES (10, '2026-11-24T11:54:00.656+00:00', 'admin', NULL, 'signature', '127.0.0.1', 'host', '2', 'create', NULL, '{"id":2,"clientId":2,"host":"*.example.org","location":"/","scheme":"http","remark":"","target":"127.0.0.1:80\n127.0.0.1:81","localProxy":false,"headerChange":"","hostChange":"","keyFilePath":"","certFilePath":"","autoHttps":false,"acme":false,"enabled":true,"platformDomainId":null,"platformPrefix":null,"noStore":false}');
INSERT INTO "AuditEntry" VALUES (11, '2026-11-24T11:54:00.841+00:00', 'admin', NULL, 'signature', '127.0.0.1', 'globalSettings', '1', 'update', '{"blackIpList":"","serverUrl":"","platformDomains":[]}', '{"blackIpList":"198.51.100.7","serverUrl":"tunnel.example.com","platformDomains":[]}');
INSERT INTO "AuditEntry" VALUES (12, '2026-11-24T11:54:01.037+00:00', 'admin', NULL, 'signature', '127.0.0.1', 'apiToken', '1', 'create', NULL, '{"id":1,"userId":null,"name":"scripts","hash":"(hidden)","readOnly":false,"legacy":false,"expiresAt":null}');
INSERT INTO "TrafficSample" VALUES ('client', 1, 'day', 29924640, 100000, 100000);
INSERT INTO "TrafficSample" VALUES ('client', 1, 'hour', 29925300, 100000, 100000);
INSERT INTO "TrafficSample" VALUES ('client', 1, 'minute', 29925354, 100000, 100000);
INSERT INTO "TrafficSample" VALUES ('user', 1, 'day', 29924640, 100000, 100000);
INSERT INTO "TrafficSample" VALUES ('user', 1, 'hour', 29925300, 100000, 100000);
INSERT INTO "TrafficSample" VALUES ('user', 1, 'minute', 29925354, 100000, 100000);
INSERT INTO "TrafficSample" VALUES ('tunnel', 1, 'day', 29924640, 100000, 100000);
INSERT INTO "TrafficSample" VALUES ('tunnel', 1, 'hour', 29925300, 100000, 100000);
INSERT INTO "TrafficSample" VALUES ('tunnel', 1, 'minute', 29925354, 100000, 100000);
INSERT INTO "ApiToken" VALUES (1, NULL, 'scripts', '133ed2ed5a32089814b6481e7f38771d51eb3025c6fbe61c77f23d1e524bb445', 0, 0, NULL, '2026-11-24T11:54:01.022+00:00', NULL);
CREATE UNIQUE INDEX "User_username_key" ON "User"("username");
CREATE UNIQUE INDEX "Client_vkey_key" ON "Client"("vkey");
CREATE INDEX "Client_userId_id_idx" ON "Client"("userId", "id");
CREATE INDEX "Tunnel_clientId_id_idx" ON "Tunnel"("clientId", "id");
CREATE INDEX "Tunnel_clientId_mode_id_idx" ON "Tunnel"("clientId", "mode", "id");
CREATE INDEX "Tunnel_port_id_idx" ON "Tunnel"("port", "id");
CREATE INDEX "Tunnel_enabled_id_idx" ON "Tunnel"("enabled", "id");
CREATE INDEX "Tunnel_mode_id_idx" ON "Tunnel"("mode", "id");
CREATE INDEX "Tunnel_mode_clientId_id_idx" ON "Tunnel"("mode", "clientId", "id");
CREATE INDEX "Tunnel_mode_port_id_idx" ON "Tunnel"("mode", "port", "id");
CREATE INDEX "Tunnel_mode_enabled_id_idx" ON "Tunnel"("mode", "enabled", "id");
CREATE INDEX "Host_clientId_id_idx" ON "Host"("clientId", "id");
CREATE INDEX "Host_host_idx" ON "Host"("host");
CREATE UNIQUE INDEX "Host_platformDomainId_platformPrefix_key" ON "Host"("platformDomainId", "platformPrefix");
CREATE UNIQUE INDEX "PlatformDomain_wildcard_key" ON "PlatformDomain"("wildcard");
CREATE INDEX "Client_remark_order" ON "Client"(lower(substr("remark", 1, 200)), "id");
CREATE INDEX "Client_vkey_order" ON "Client"(lower(substr("vkey", 1, 200)), "id");
CREATE INDEX "Tunnel_remark_order" ON "Tunnel"(lower(substr("remark", 1, 200)), "id");
CREATE INDEX "Tunnel_target_order" ON "Tunnel"(lower(substr("target", 1, 200)), "id");
CREATE INDEX "Tunnel_mode_remark_order" ON "Tunnel"("mode", lower(substr("remark", 1, 200)), "id");
CREATE INDEX "Tunnel_mode_target_order" ON "Tunnel"("mode", lower(substr("target", 1, 200)), "id");
CREATE UNIQUE INDEX "Tunnel_password_key" ON "Tunnel"("password") WHERE "mode" IN ('secret', 'p2p') AND "password" <> '';
CREATE INDEX "Client_connected_id_idx" ON "Client"("connected", "id");
CREATE INDEX "Client_inletBytes_id_idx" ON "Client"("inletBytes", "id");
CREATE INDEX "Client_exportBytes_id_idx" ON "Client"("exportBytes", "id");
CREATE INDEX "Client_rate_id_idx" ON "Client"("rate", "id");
CREATE INDEX "Client_userId_connected_id_idx" ON "Client"("userId", "connected", "id");
CREATE INDEX "Host_scheme_id_idx" ON "Host"("scheme", "id");
CREATE INDEX "Host_clientOnline_id_idx" ON "Host"("clientOnline", "id");
CREATE INDEX "Host_ownerId_id_idx" ON "Host"("ownerId", "id");
CREATE INDEX "Host_ownerId_clientId_id_idx" ON "Host"("ownerId", "clientId", "id");
CREATE INDEX "Host_ownerId_scheme_id_idx" ON "Host"("ownerId", "scheme", "id");
CREATE INDEX "Host_ownerId_clientOnline_id_idx" ON "Host"("ownerId", "clientOnline", "id");
CREATE INDEX "Tunnel_running_id_idx" ON "Tunnel"("running", "id");
CREATE INDEX "Tunnel_mode_running_id_idx" ON "Tunnel"("mode", "running", "id");
CREATE INDEX "Tunnel_clientOnline_id_idx" ON "Tunnel"("clientOnline", "id");
CREATE INDEX "Tunnel_mode_clientOnline_id_idx" ON "Tunnel"("mode", "clientOnline", "id");
CREATE INDEX "Tunnel_ownerId_id_idx" ON "Tunnel"("ownerId", "id");
CREATE INDEX "Tunnel_ownerId_clientId_id_idx" ON "Tunnel"("ownerId", "clientId", "id");
CREATE INDEX "Tunnel_ownerId_mode_id_idx" ON "Tunnel"("ownerId", "mode", "id");
CREATE INDEX "Tunnel_ownerId_port_id_idx" ON "Tunnel"("ownerId", "port", "id");
CREATE INDEX "Tunnel_ownerId_enabled_id_idx" ON "Tunnel"("ownerId", "enabled", "id");
CREATE INDEX "Tunnel_ownerId_running_id_idx" ON "Tunnel"("ownerId", "running", "id");
CREATE INDEX "Tunnel_ownerId_clientOnline_id_idx" ON "Tunnel"("ownerId", "clientOnline", "id");
CREATE INDEX "User_maxClients_id_idx" ON "User"("maxClients", "id");
CREATE INDEX "User_maxTunnels_id_idx" ON "User"("maxTunnels", "id");
CREATE INDEX "User_clientCount_id_idx" ON "User"("clientCount", "id");
CREATE INDEX "User_tunnelCount_id_idx" ON "User"("tunnelCount", "id");
CREATE INDEX "User_createdAt_id_idx" ON "User"("createdAt", "id");
CREATE INDEX "AuditEntry_at_idx" ON "AuditEntry"("at");
CREATE INDEX "AuditEntry_resource_resourceId_id_idx" ON "AuditEntry"("resource", "resourceId", "id");
CREATE INDEX "AuditEntry_callerKind_callerId_id_idx" ON "AuditEntry"("callerKind", "callerId", "id");
CREATE INDEX "TrafficSample_step_at_idx" ON "TrafficSample"("step", "at");
CREATE INDEX "Client_lastAddress_order" ON "Client"(lower(substr("lastAddress", 1, 200)), "id");
CREATE INDEX "Client_localAddress_order" ON "Client"(lower(substr("localAddress", 1, 200)), "id");
CREATE INDEX "Client_agentVersion_order" ON "Client"(lower(substr("agentVersion", 1, 200)), "id");
CREATE INDEX "Client_userId_remark_order" ON "Client"("userId", lower(substr("remark", 1, 200)), "id");
CREATE INDEX "Client_userId_vkey_order" ON "Client"("userId", lower(substr("vkey", 1, 200)), "id");
CREATE INDEX "Tunnel_password_order" ON "Tunnel"(lower(substr("password", 1, 200)), "id");
CREATE INDEX "Tunnel_mode_password_order" ON "Tunnel"("mode", lower(substr("password", 1, 200)), "id");
CREATE INDEX "Tunnel_clientKey_order" ON "Tunnel"(lower(substr("clientKey", 1, 200)), "id");
CREATE INDEX "Tunnel_mode_clientKey_order" ON "Tunnel"("mode", lower(substr("clientKey", 1, 200)), "id");
CREATE INDEX "Tunnel_ownerId_remark_order" ON "Tunnel"("ownerId", lower(substr("remark", 1, 200)), "id");
CREATE INDEX "Tunnel_ownerId_target_order" ON "Tunnel"("ownerId", lower(substr("target", 1, 200)), "id");
CREATE INDEX "Tunnel_ownerId_password_order" ON "Tunnel"("ownerId", lower(substr("password", 1, 200)), "id");
CREATE INDEX "Tunnel_ownerId_clientKey_order" ON "Tunnel"("ownerId", lower(substr("clientKey", 1, 200)), "id");
CREATE INDEX "Host_remark_order" ON "Host"(lower(substr("remark", 1, 200)), "id");
CREATE INDEX "Host_ownerId_remark_order" ON "Host"("ownerId", lower(substr("remark", 1, 200)), "id");
CREATE INDEX "Host_host_order" ON "Host"(lower(substr("host", 1, 200)), "id");
CREATE INDEX "Host_ownerId_host_order" ON "Host"("ownerId", lower(substr("host", 1, 200)), "id");
CREATE INDEX "Host_target_order" ON "Host"(lower(substr("target", 1, 200)), "id");
CREATE INDEX "Host_ownerId_target_order" ON "Host"("ownerId", lower(substr("target", 1, 200)), "id");
CREATE INDEX "Host_location_order" ON "Host"(lower(substr("location", 1, 200)), "id");
CREATE INDEX "Host_ownerId_location_order" ON "Host"("ownerId", lower(substr("location", 1, 200)), "id");
CREATE INDEX "Host_clientKey_order" ON "Host"(lower(substr("clientKey", 1, 200)), "id");
CREATE INDEX "Host_ownerId_clientKey_order" ON "Host"("ownerId", lower(substr("clientKey", 1, 200)), "id");
CREATE INDEX "User_username_order" ON "User"(lower(substr("username", 1, 200)), "id");
CREATE INDEX "User_remark_order" ON "User"(lower(substr("remark", 1, 200)), "id");
CREATE INDEX "Host_stopped_order" ON "Host"((NOT "enabled"), "id");
CREATE INDEX "Host_ownerId_stopped_order" ON "Host"("ownerId", (NOT "enabled"), "id");
CREATE INDEX "User_expiresAt_order" ON "User"(coalesce("expiresAt", ''), "id");
CREATE TRIGGER "Tunnel_client_insert" AFTER INSERT ON "Tunnel" BEGIN
  UPDATE "Tunnel" SET ("ownerId", "clientKey", "clientOnline") = (SELECT "userId", "vkey", "connected" FROM "Client" WHERE id = NEW."clientId") WHERE id = NEW.id;
END;
CREATE TRIGGER "Tunnel_client_move" AFTER UPDATE OF "clientId" ON "Tunnel" WHEN OLD."clientId" <> NEW."clientId" BEGIN
  UPDATE "Tunnel" SET ("ownerId", "clientKey", "clientOnline") = (SELECT "userId", "vkey", "connected" FROM "Client" WHERE id = NEW."clientId") WHERE id = NEW.id;
END;
CREATE TRIGGER "Host_client_insert" AFTER INSERT ON "Host" BEGIN
  UPDATE "Host" SET ("ownerId", "clientKey", "clientOnline") = (SELECT "userId", "vkey", "connected" FROM "Client" WHERE id = NEW."clientId") WHERE id = NEW.id;
END;
CREATE TRIGGER "Host_client_move" AFTER UPDATE OF "clientId" ON "Host" WHEN OLD."clientId" <> NEW."clientId" BEGIN
  UPDATE "Host" SET ("ownerId", "clientKey", "clientOnline") = (SELECT "userId", "vkey", "connected" FROM "Client" WHERE id = NEW."clientId") WHERE id = NEW.id;
END;
CREATE TRIGGER "Client_copies" AFTER UPDATE OF "userId", "vkey", "connected" ON "Client"
WHEN OLD."userId" IS NOT NEW."userId" OR OLD."vkey" <> NEW."vkey" OR OLD."connected" <> NEW."connected" BEGIN
  UPDATE "Tunnel" SET "ownerId" = NEW."userId", "clientKey" = NEW."vkey", "clientOnline" = NEW."connected" WHERE "clientId" = NEW.id;
  UPDATE "Host" SET "ownerId" = NEW."userId", "clientKey" = NEW."vkey", "clientOnline" = NEW."connected" WHERE "clientId" = NEW.id;
END;
CREATE INDEX "Session_userId_idx" ON "Session"("userId");
CREATE INDEX "Session_clientId_idx" ON "Session"("clientId");
CREATE INDEX "Session_lastSeenAt_idx" ON "Session"("lastSeenAt");
CREATE UNIQUE INDEX "ApiToken_hash_key" ON "ApiToken"("hash");
CREATE INDEX "ApiToken_userId_id_idx" ON "ApiToken"("userId", "id");
CREATE INDEX "Client_expired_expiresAt_idx" ON "Client"("expired", "expiresAt");
CREATE INDEX "Client_webUsername_id_idx" ON "Client"("webUsername", "id");
CREATE INDEX "User_expired_expiresAt_idx" ON "User"("expired", "expiresAt");
CREATE INDEX "Client_status_order" ON "Client"(("enabled" AND NOT "expired"), "id");
CREATE INDEX "Client_userId_status_order" ON "Client"("userId", ("enabled" AND NOT "expired"), "id");
CREATE INDEX "User_status_order" ON "User"(("enabled" AND NOT "expired"), "id");
