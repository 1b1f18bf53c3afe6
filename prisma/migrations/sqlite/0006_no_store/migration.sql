-- Columns are added in place: replacing the tables would drop their triggers and text indexes.
ALTER TABLE "Tunnel" ADD COLUMN "noStore" BOOLEAN NOT NULL DEFAULT false;
ALTER TABLE "Host" ADD COLUMN "noStore" BOOLEAN NOT NULL DEFAULT false;
