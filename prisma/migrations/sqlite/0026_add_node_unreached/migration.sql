-- Columns are added in place: replacing the tables would drop their triggers and text indexes.
ALTER TABLE "Node" ADD COLUMN "unreached" TEXT NOT NULL DEFAULT '[]';
