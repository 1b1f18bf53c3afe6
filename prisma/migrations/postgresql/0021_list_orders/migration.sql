-- What lists can also be sorted by. Columns are added in place: replacing the tables would drop their triggers and text indexes.
ALTER TABLE "Client" ADD COLUMN "connections" INTEGER NOT NULL DEFAULT 0;
ALTER TABLE "Tunnel" ADD COLUMN "rate" BIGINT NOT NULL DEFAULT 0;
ALTER TABLE "Tunnel" ADD COLUMN "connections" INTEGER NOT NULL DEFAULT 0;
ALTER TABLE "Host" ADD COLUMN "rate" BIGINT NOT NULL DEFAULT 0;
ALTER TABLE "Host" ADD COLUMN "connections" INTEGER NOT NULL DEFAULT 0;
ALTER TABLE "User" ADD COLUMN "lastLoginAt" TIMESTAMP(3);
