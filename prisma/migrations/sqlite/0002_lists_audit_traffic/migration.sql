-- CreateTable
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

-- CreateTable
CREATE TABLE "TrafficSample" (
    "resource" TEXT NOT NULL,
    "resourceId" INTEGER NOT NULL,
    "step" TEXT NOT NULL,
    "at" INTEGER NOT NULL,
    "inletBytes" BIGINT NOT NULL,
    "exportBytes" BIGINT NOT NULL,

    PRIMARY KEY ("resource", "resourceId", "step", "at")
);

-- Columns are added, not the tables made anew: AUTOINCREMENT goes on counting where it was, so ids never come back.
ALTER TABLE "User" ADD COLUMN "hostCount" INTEGER NOT NULL DEFAULT 0;
ALTER TABLE "Client" ADD COLUMN "connected" BOOLEAN NOT NULL DEFAULT false;
ALTER TABLE "Client" ADD COLUMN "rate" BIGINT NOT NULL DEFAULT 0;
ALTER TABLE "Tunnel" ADD COLUMN "running" BOOLEAN NOT NULL DEFAULT false;
ALTER TABLE "Tunnel" ADD COLUMN "ownerId" INTEGER;
ALTER TABLE "Tunnel" ADD COLUMN "clientKey" TEXT NOT NULL DEFAULT '';
ALTER TABLE "Tunnel" ADD COLUMN "clientOnline" BOOLEAN NOT NULL DEFAULT false;
ALTER TABLE "Host" ADD COLUMN "ownerId" INTEGER;
ALTER TABLE "Host" ADD COLUMN "clientKey" TEXT NOT NULL DEFAULT '';
ALTER TABLE "Host" ADD COLUMN "clientOnline" BOOLEAN NOT NULL DEFAULT false;

-- What is stored already
UPDATE "User" SET "hostCount" = (SELECT coalesce(sum("hostCount"), 0) FROM "Client" WHERE "userId" = "User".id);
UPDATE "Tunnel" SET ("ownerId", "clientKey") = (SELECT "userId", "vkey" FROM "Client" WHERE id = "Tunnel"."clientId");
UPDATE "Host" SET ("ownerId", "clientKey") = (SELECT "userId", "vkey" FROM "Client" WHERE id = "Host"."clientId");

-- CreateIndex
CREATE INDEX "Client_connected_id_idx" ON "Client"("connected", "id");
CREATE INDEX "Client_inletBytes_id_idx" ON "Client"("inletBytes", "id");
CREATE INDEX "Client_exportBytes_id_idx" ON "Client"("exportBytes", "id");
CREATE INDEX "Client_rate_id_idx" ON "Client"("rate", "id");
CREATE INDEX "Client_userId_enabled_id_idx" ON "Client"("userId", "enabled", "id");
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
CREATE INDEX "User_enabled_id_idx" ON "User"("enabled", "id");
CREATE INDEX "User_maxClients_id_idx" ON "User"("maxClients", "id");
CREATE INDEX "User_maxTunnels_id_idx" ON "User"("maxTunnels", "id");
CREATE INDEX "User_clientCount_id_idx" ON "User"("clientCount", "id");
CREATE INDEX "User_tunnelCount_id_idx" ON "User"("tunnelCount", "id");
CREATE INDEX "User_createdAt_id_idx" ON "User"("createdAt", "id");
CREATE INDEX "AuditEntry_at_idx" ON "AuditEntry"("at");
CREATE INDEX "AuditEntry_resource_resourceId_id_idx" ON "AuditEntry"("resource", "resourceId", "id");
CREATE INDEX "AuditEntry_callerKind_callerId_id_idx" ON "AuditEntry"("callerKind", "callerId", "id");
CREATE INDEX "TrafficSample_step_at_idx" ON "TrafficSample"("step", "at");

-- What schema.prisma has no words for. Keep these in every migration that replaces a table.

-- The orders by text (src/store/hot/page.ts has the same expression)
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

-- Hosts are sorted by "stopped" (contract 2.1: IsClose)
CREATE INDEX "Host_stopped_order" ON "Host"((NOT "enabled"), "id");
CREATE INDEX "Host_ownerId_stopped_order" ON "Host"("ownerId", (NOT "enabled"), "id");

-- No expiry comes before every expiry
CREATE INDEX "User_expiresAt_order" ON "User"(coalesce("expiresAt", ''), "id");

-- Tunnels and hosts carry what their lists filter and sort by of the client
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
