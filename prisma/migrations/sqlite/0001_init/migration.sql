-- CreateTable
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
);

-- CreateTable
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
    "userId" INTEGER,
    CONSTRAINT "Client_userId_fkey" FOREIGN KEY ("userId") REFERENCES "User" ("id") ON DELETE SET NULL ON UPDATE CASCADE
);

-- CreateTable
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
    "exportBytes" BIGINT NOT NULL DEFAULT 0,
    CONSTRAINT "Tunnel_clientId_fkey" FOREIGN KEY ("clientId") REFERENCES "Client" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);

-- CreateTable
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
    "platformPrefix" TEXT,
    CONSTRAINT "Host_clientId_fkey" FOREIGN KEY ("clientId") REFERENCES "Client" ("id") ON DELETE CASCADE ON UPDATE CASCADE,
    CONSTRAINT "Host_platformDomainId_fkey" FOREIGN KEY ("platformDomainId") REFERENCES "PlatformDomain" ("id") ON DELETE RESTRICT ON UPDATE CASCADE
);

-- CreateTable
CREATE TABLE "PlatformDomain" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "wildcard" TEXT NOT NULL,
    "certFilePath" TEXT NOT NULL DEFAULT '',
    "keyFilePath" TEXT NOT NULL DEFAULT ''
);

-- CreateTable
CREATE TABLE "GlobalSettings" (
    "id" INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT DEFAULT 1,
    "blackIpList" TEXT NOT NULL DEFAULT '',
    "serverUrl" TEXT NOT NULL DEFAULT ''
);

-- CreateTable
CREATE TABLE "Total" (
    "name" TEXT NOT NULL PRIMARY KEY,
    "value" INTEGER NOT NULL DEFAULT 0
);

-- CreateIndex
CREATE UNIQUE INDEX "User_username_key" ON "User"("username");

-- CreateIndex
CREATE UNIQUE INDEX "Client_vkey_key" ON "Client"("vkey");

-- CreateIndex
CREATE INDEX "Client_userId_id_idx" ON "Client"("userId", "id");

-- CreateIndex
CREATE INDEX "Client_enabled_id_idx" ON "Client"("enabled", "id");

-- CreateIndex
CREATE INDEX "Tunnel_clientId_id_idx" ON "Tunnel"("clientId", "id");

-- CreateIndex
CREATE INDEX "Tunnel_clientId_mode_id_idx" ON "Tunnel"("clientId", "mode", "id");

-- CreateIndex
CREATE INDEX "Tunnel_port_id_idx" ON "Tunnel"("port", "id");

-- CreateIndex
CREATE INDEX "Tunnel_enabled_id_idx" ON "Tunnel"("enabled", "id");

-- CreateIndex
CREATE INDEX "Tunnel_mode_id_idx" ON "Tunnel"("mode", "id");

-- CreateIndex
CREATE INDEX "Tunnel_mode_clientId_id_idx" ON "Tunnel"("mode", "clientId", "id");

-- CreateIndex
CREATE INDEX "Tunnel_mode_port_id_idx" ON "Tunnel"("mode", "port", "id");

-- CreateIndex
CREATE INDEX "Tunnel_mode_enabled_id_idx" ON "Tunnel"("mode", "enabled", "id");

-- CreateIndex
CREATE INDEX "Host_clientId_id_idx" ON "Host"("clientId", "id");

-- CreateIndex
CREATE INDEX "Host_host_idx" ON "Host"("host");

-- CreateIndex
CREATE UNIQUE INDEX "Host_platformDomainId_platformPrefix_key" ON "Host"("platformDomainId", "platformPrefix");

-- CreateIndex
CREATE UNIQUE INDEX "PlatformDomain_wildcard_key" ON "PlatformDomain"("wildcard");

-- What schema.prisma has no words for. Keep these in every migration that replaces a table.

-- The orders by text (src/store/hot/page.ts has the same expression)
CREATE INDEX "Client_remark_order" ON "Client"(lower(substr("remark", 1, 200)), "id");
CREATE INDEX "Client_vkey_order" ON "Client"(lower(substr("vkey", 1, 200)), "id");
CREATE INDEX "Tunnel_remark_order" ON "Tunnel"(lower(substr("remark", 1, 200)), "id");
CREATE INDEX "Tunnel_target_order" ON "Tunnel"(lower(substr("target", 1, 200)), "id");
CREATE INDEX "Tunnel_mode_remark_order" ON "Tunnel"("mode", lower(substr("remark", 1, 200)), "id");
CREATE INDEX "Tunnel_mode_target_order" ON "Tunnel"("mode", lower(substr("target", 1, 200)), "id");

-- A visitor's key leads to one tunnel
CREATE UNIQUE INDEX "Tunnel_password_key" ON "Tunnel"("password") WHERE "mode" IN ('secret', 'p2p') AND "password" <> '';
