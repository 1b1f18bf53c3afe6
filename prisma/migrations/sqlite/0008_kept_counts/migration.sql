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

CREATE TRIGGER "User_count_insert" AFTER INSERT ON "User" BEGIN
  INSERT INTO "Total" (name, value) VALUES ('users', 1) ON CONFLICT (name) DO UPDATE SET value = value + excluded.value;
END;
CREATE TRIGGER "User_count_delete" AFTER DELETE ON "User" BEGIN
  INSERT INTO "Total" (name, value) VALUES ('users', -1) ON CONFLICT (name) DO UPDATE SET value = value + excluded.value;
END;
CREATE TRIGGER "AuditEntry_count_insert" AFTER INSERT ON "AuditEntry" BEGIN
  INSERT INTO "Total" (name, value) VALUES ('audit', 1) ON CONFLICT (name) DO UPDATE SET value = value + excluded.value;
END;
CREATE TRIGGER "AuditEntry_count_delete" AFTER DELETE ON "AuditEntry" BEGIN
  INSERT INTO "Total" (name, value) VALUES ('audit', -1) ON CONFLICT (name) DO UPDATE SET value = value + excluded.value;
END;

CREATE TRIGGER "Client_count_insert" AFTER INSERT ON "Client" BEGIN
  INSERT INTO "Total" (name, value) VALUES ('clients', 1) ON CONFLICT (name) DO UPDATE SET value = value + excluded.value;
  UPDATE "User" SET "clientCount" = "clientCount" + 1, "tunnelCount" = "tunnelCount" + NEW."tunnelCount", "hostCount" = "hostCount" + NEW."hostCount" WHERE id = NEW."userId";
END;
CREATE TRIGGER "Client_count_delete" AFTER DELETE ON "Client" BEGIN
  INSERT INTO "Total" (name, value) VALUES ('clients', -1) ON CONFLICT (name) DO UPDATE SET value = value + excluded.value;
  UPDATE "User" SET "clientCount" = "clientCount" - 1, "tunnelCount" = "tunnelCount" - OLD."tunnelCount", "hostCount" = "hostCount" - OLD."hostCount" WHERE id = OLD."userId";
END;
CREATE TRIGGER "Client_count_move" AFTER UPDATE OF "userId" ON "Client"
WHEN OLD."userId" IS NOT NEW."userId" BEGIN
  UPDATE "User" SET "clientCount" = "clientCount" - 1, "tunnelCount" = "tunnelCount" - OLD."tunnelCount", "hostCount" = "hostCount" - OLD."hostCount" WHERE id = OLD."userId";
  UPDATE "User" SET "clientCount" = "clientCount" + 1, "tunnelCount" = "tunnelCount" + NEW."tunnelCount", "hostCount" = "hostCount" + NEW."hostCount" WHERE id = NEW."userId";
END;
CREATE TRIGGER "Client_count_routes" AFTER UPDATE OF "tunnelCount", "hostCount" ON "Client"
WHEN OLD."userId" IS NEW."userId" AND (OLD."tunnelCount" <> NEW."tunnelCount" OR OLD."hostCount" <> NEW."hostCount") BEGIN
  UPDATE "User" SET "tunnelCount" = "tunnelCount" + NEW."tunnelCount" - OLD."tunnelCount", "hostCount" = "hostCount" + NEW."hostCount" - OLD."hostCount" WHERE id = NEW."userId";
END;

CREATE TRIGGER "Tunnel_count_insert" AFTER INSERT ON "Tunnel" BEGIN
  INSERT INTO "Total" (name, value) VALUES ('tunnels', 1), ('tunnels:' || NEW.mode, 1) ON CONFLICT (name) DO UPDATE SET value = value + excluded.value;
  UPDATE "Client" SET "tunnelCount" = "tunnelCount" + 1 WHERE id = NEW."clientId";
END;
CREATE TRIGGER "Tunnel_count_delete" AFTER DELETE ON "Tunnel" BEGIN
  INSERT INTO "Total" (name, value) VALUES ('tunnels', -1), ('tunnels:' || OLD.mode, -1) ON CONFLICT (name) DO UPDATE SET value = value + excluded.value;
  UPDATE "Client" SET "tunnelCount" = "tunnelCount" - 1 WHERE id = OLD."clientId";
END;
CREATE TRIGGER "Tunnel_count_move" AFTER UPDATE OF "clientId" ON "Tunnel"
WHEN OLD."clientId" <> NEW."clientId" BEGIN
  UPDATE "Client" SET "tunnelCount" = "tunnelCount" - 1 WHERE id = OLD."clientId";
  UPDATE "Client" SET "tunnelCount" = "tunnelCount" + 1 WHERE id = NEW."clientId";
END;
CREATE TRIGGER "Host_count_insert" AFTER INSERT ON "Host" BEGIN
  INSERT INTO "Total" (name, value) VALUES ('hosts', 1) ON CONFLICT (name) DO UPDATE SET value = value + excluded.value;
  UPDATE "Client" SET "tunnelCount" = "tunnelCount" + 1, "hostCount" = "hostCount" + 1 WHERE id = NEW."clientId";
END;
CREATE TRIGGER "Host_count_delete" AFTER DELETE ON "Host" BEGIN
  INSERT INTO "Total" (name, value) VALUES ('hosts', -1) ON CONFLICT (name) DO UPDATE SET value = value + excluded.value;
  UPDATE "Client" SET "tunnelCount" = "tunnelCount" - 1, "hostCount" = "hostCount" - 1 WHERE id = OLD."clientId";
END;
CREATE TRIGGER "Host_count_move" AFTER UPDATE OF "clientId" ON "Host"
WHEN OLD."clientId" <> NEW."clientId" BEGIN
  UPDATE "Client" SET "tunnelCount" = "tunnelCount" - 1, "hostCount" = "hostCount" - 1 WHERE id = OLD."clientId";
  UPDATE "Client" SET "tunnelCount" = "tunnelCount" + 1, "hostCount" = "hostCount" + 1 WHERE id = NEW."clientId";
END;
CREATE TRIGGER "Tunnel_count_mode" AFTER UPDATE OF "mode" ON "Tunnel"
WHEN OLD."mode" <> NEW."mode" BEGIN
  INSERT INTO "Total" (name, value) VALUES ('tunnels:' || OLD.mode, -1), ('tunnels:' || NEW.mode, 1) ON CONFLICT (name) DO UPDATE SET value = value + excluded.value;
END;
