-- Columns are added in place: replacing the tables would drop their triggers and text indexes.
ALTER TABLE "Client" ADD COLUMN "node" TEXT NOT NULL DEFAULT '';
ALTER TABLE "Node" ADD COLUMN "linkPort" INTEGER NOT NULL DEFAULT 0;
