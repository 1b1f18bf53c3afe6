-- The kept counts follow their rows by triggers, whoever writes: routes are counted for their client, clients with their routes for their
-- owner, and all of them in "Total".

-- Once from the rows, whatever the counts were.
UPDATE "Client" SET
  "hostCount" = (SELECT count(*) FROM "Host" WHERE "clientId" = "Client".id),
  "tunnelCount" = (SELECT count(*) FROM "Host" WHERE "clientId" = "Client".id) + (SELECT count(*) FROM "Tunnel" WHERE "clientId" = "Client".id);
UPDATE "User" SET
  "clientCount" = (SELECT count(*) FROM "Client" WHERE "userId" = "User".id),
  "tunnelCount" = (SELECT coalesce(sum("tunnelCount"), 0) FROM "Client" WHERE "userId" = "User".id),
  "hostCount" = (SELECT coalesce(sum("hostCount"), 0) FROM "Client" WHERE "userId" = "User".id);
DELETE FROM "Total";
INSERT INTO "Total" (name, value)
  SELECT 'users', count(*) FROM "User" UNION ALL SELECT 'clients', count(*) FROM "Client" UNION ALL SELECT 'hosts', count(*) FROM "Host"
  UNION ALL SELECT 'tunnels', count(*) FROM "Tunnel" UNION ALL SELECT 'tunnels:' || mode, count(*) FROM "Tunnel" GROUP BY mode
  UNION ALL SELECT 'audit', count(*) FROM "AuditEntry";

-- Rows that one statement adds or deletes are counted with one statement, in "counted": an update for each of many rows would find all
-- its former versions in the way.

-- Adds the rows to the total whose name is given.
CREATE FUNCTION adit_count_total() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO "Total" (name, value) SELECT TG_ARGV[0], (CASE TG_OP WHEN 'DELETE' THEN -1 ELSE 1 END) * count(*) FROM counted
    ON CONFLICT (name) DO UPDATE SET value = "Total".value + excluded.value;
  RETURN NULL;
END $$;

CREATE FUNCTION adit_count_modes() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO "Total" (name, value) SELECT 'tunnels:' || mode, (CASE TG_OP WHEN 'DELETE' THEN -1 ELSE 1 END) * count(*) FROM counted GROUP BY mode
    ON CONFLICT (name) DO UPDATE SET value = "Total".value + excluded.value;
  RETURN NULL;
END $$;

CREATE FUNCTION adit_count_mode_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO "Total" (name, value) VALUES ('tunnels:' || OLD.mode, -1), ('tunnels:' || NEW.mode, 1)
    ON CONFLICT (name) DO UPDATE SET value = "Total".value + excluded.value;
  RETURN NULL;
END $$;

-- Clients, for their owners.
CREATE FUNCTION adit_count_clients() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE sign int := CASE TG_OP WHEN 'DELETE' THEN -1 ELSE 1 END;
BEGIN
  UPDATE "User" u SET "clientCount" = u."clientCount" + sign * n.clients, "tunnelCount" = u."tunnelCount" + sign * n.tunnels, "hostCount" = u."hostCount" + sign * n.hosts
    FROM (SELECT "userId", count(*) AS clients, sum("tunnelCount") AS tunnels, sum("hostCount") AS hosts FROM counted WHERE "userId" IS NOT NULL GROUP BY "userId") n
    WHERE u.id = n."userId";
  RETURN NULL;
END $$;

CREATE FUNCTION adit_count_client_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF OLD."userId" IS NOT DISTINCT FROM NEW."userId" THEN
    UPDATE "User" SET "tunnelCount" = "tunnelCount" + NEW."tunnelCount" - OLD."tunnelCount", "hostCount" = "hostCount" + NEW."hostCount" - OLD."hostCount" WHERE id = NEW."userId";
  ELSE
    UPDATE "User" SET "clientCount" = "clientCount" - 1, "tunnelCount" = "tunnelCount" - OLD."tunnelCount", "hostCount" = "hostCount" - OLD."hostCount" WHERE id = OLD."userId";
    UPDATE "User" SET "clientCount" = "clientCount" + 1, "tunnelCount" = "tunnelCount" + NEW."tunnelCount", "hostCount" = "hostCount" + NEW."hostCount" WHERE id = NEW."userId";
  END IF;
  RETURN NULL;
END $$;

-- Tunnels and hosts, for their clients. The argument says how many hosts one of them is: 0 or 1.
CREATE FUNCTION adit_count_routes() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE sign int := CASE TG_OP WHEN 'DELETE' THEN -1 ELSE 1 END;
BEGIN
  UPDATE "Client" c SET "tunnelCount" = c."tunnelCount" + sign * n.routes, "hostCount" = c."hostCount" + sign * n.routes * TG_ARGV[0]::int
    FROM (SELECT "clientId", count(*) AS routes FROM counted GROUP BY "clientId") n WHERE c.id = n."clientId";
  RETURN NULL;
END $$;

CREATE FUNCTION adit_count_route_move() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE "Client" SET "tunnelCount" = "tunnelCount" - 1, "hostCount" = "hostCount" - TG_ARGV[0]::int WHERE id = OLD."clientId";
  UPDATE "Client" SET "tunnelCount" = "tunnelCount" + 1, "hostCount" = "hostCount" + TG_ARGV[0]::int WHERE id = NEW."clientId";
  RETURN NULL;
END $$;

CREATE TRIGGER "User_total_insert" AFTER INSERT ON "User" REFERENCING NEW TABLE AS counted FOR EACH STATEMENT EXECUTE FUNCTION adit_count_total('users');
CREATE TRIGGER "User_total_delete" AFTER DELETE ON "User" REFERENCING OLD TABLE AS counted FOR EACH STATEMENT EXECUTE FUNCTION adit_count_total('users');
CREATE TRIGGER "AuditEntry_total_insert" AFTER INSERT ON "AuditEntry" REFERENCING NEW TABLE AS counted FOR EACH STATEMENT EXECUTE FUNCTION adit_count_total('audit');
CREATE TRIGGER "AuditEntry_total_delete" AFTER DELETE ON "AuditEntry" REFERENCING OLD TABLE AS counted FOR EACH STATEMENT EXECUTE FUNCTION adit_count_total('audit');
CREATE TRIGGER "Client_total_insert" AFTER INSERT ON "Client" REFERENCING NEW TABLE AS counted FOR EACH STATEMENT EXECUTE FUNCTION adit_count_total('clients');
CREATE TRIGGER "Client_total_delete" AFTER DELETE ON "Client" REFERENCING OLD TABLE AS counted FOR EACH STATEMENT EXECUTE FUNCTION adit_count_total('clients');
CREATE TRIGGER "Tunnel_total_insert" AFTER INSERT ON "Tunnel" REFERENCING NEW TABLE AS counted FOR EACH STATEMENT EXECUTE FUNCTION adit_count_total('tunnels');
CREATE TRIGGER "Tunnel_total_delete" AFTER DELETE ON "Tunnel" REFERENCING OLD TABLE AS counted FOR EACH STATEMENT EXECUTE FUNCTION adit_count_total('tunnels');
CREATE TRIGGER "Host_total_insert" AFTER INSERT ON "Host" REFERENCING NEW TABLE AS counted FOR EACH STATEMENT EXECUTE FUNCTION adit_count_total('hosts');
CREATE TRIGGER "Host_total_delete" AFTER DELETE ON "Host" REFERENCING OLD TABLE AS counted FOR EACH STATEMENT EXECUTE FUNCTION adit_count_total('hosts');
CREATE TRIGGER "Tunnel_mode_total_insert" AFTER INSERT ON "Tunnel" REFERENCING NEW TABLE AS counted FOR EACH STATEMENT EXECUTE FUNCTION adit_count_modes();
CREATE TRIGGER "Tunnel_mode_total_delete" AFTER DELETE ON "Tunnel" REFERENCING OLD TABLE AS counted FOR EACH STATEMENT EXECUTE FUNCTION adit_count_modes();
CREATE TRIGGER "Client_count_insert" AFTER INSERT ON "Client" REFERENCING NEW TABLE AS counted FOR EACH STATEMENT EXECUTE FUNCTION adit_count_clients();
CREATE TRIGGER "Client_count_delete" AFTER DELETE ON "Client" REFERENCING OLD TABLE AS counted FOR EACH STATEMENT EXECUTE FUNCTION adit_count_clients();
CREATE TRIGGER "Tunnel_count_insert" AFTER INSERT ON "Tunnel" REFERENCING NEW TABLE AS counted FOR EACH STATEMENT EXECUTE FUNCTION adit_count_routes(0);
CREATE TRIGGER "Tunnel_count_delete" AFTER DELETE ON "Tunnel" REFERENCING OLD TABLE AS counted FOR EACH STATEMENT EXECUTE FUNCTION adit_count_routes(0);
CREATE TRIGGER "Host_count_insert" AFTER INSERT ON "Host" REFERENCING NEW TABLE AS counted FOR EACH STATEMENT EXECUTE FUNCTION adit_count_routes(1);
CREATE TRIGGER "Host_count_delete" AFTER DELETE ON "Host" REFERENCING OLD TABLE AS counted FOR EACH STATEMENT EXECUTE FUNCTION adit_count_routes(1);
CREATE TRIGGER "Tunnel_mode_total_change" AFTER UPDATE OF "mode" ON "Tunnel" FOR EACH ROW WHEN (OLD."mode" <> NEW."mode") EXECUTE FUNCTION adit_count_mode_change();
CREATE TRIGGER "Tunnel_count_move" AFTER UPDATE OF "clientId" ON "Tunnel" FOR EACH ROW WHEN (OLD."clientId" <> NEW."clientId") EXECUTE FUNCTION adit_count_route_move(0);
CREATE TRIGGER "Host_count_move" AFTER UPDATE OF "clientId" ON "Host" FOR EACH ROW WHEN (OLD."clientId" <> NEW."clientId") EXECUTE FUNCTION adit_count_route_move(1);
CREATE TRIGGER "Client_count_change" AFTER UPDATE OF "userId", "tunnelCount", "hostCount" ON "Client" FOR EACH ROW
WHEN (OLD."userId" IS DISTINCT FROM NEW."userId" OR OLD."tunnelCount" <> NEW."tunnelCount" OR OLD."hostCount" <> NEW."hostCount") EXECUTE FUNCTION adit_count_client_change();
