-- DropIndex
DROP INDEX "Client_enabled_id_idx";

-- DropIndex
DROP INDEX "Client_userId_enabled_id_idx";

-- DropIndex
DROP INDEX "User_enabled_id_idx";

-- AlterTable
ALTER TABLE "Client" ADD COLUMN "expired" BOOLEAN NOT NULL DEFAULT false;

-- AlterTable
ALTER TABLE "User" ADD COLUMN "expired" BOOLEAN NOT NULL DEFAULT false;

-- CreateIndex
CREATE INDEX "Client_expired_expiresAt_idx" ON "Client"("expired", "expiresAt");

-- CreateIndex
CREATE INDEX "Client_webUsername_id_idx" ON "Client"("webUsername", "id");

-- CreateIndex
CREATE INDEX "User_expired_expiresAt_idx" ON "User"("expired", "expiresAt");

-- What has expired stands with the disabled when clients and users are sorted by their status
CREATE INDEX "Client_status_order" ON "Client"(("enabled" AND NOT "expired"), "id");
CREATE INDEX "Client_userId_status_order" ON "Client"("userId", ("enabled" AND NOT "expired"), "id");
CREATE INDEX "User_status_order" ON "User"(("enabled" AND NOT "expired"), "id");
