-- Columns are added in place: replacing the tables would drop their triggers and text indexes.
-- CreateTable
CREATE TABLE "ImportedRecord" (
    "resource" TEXT NOT NULL,
    "recordId" TEXT NOT NULL,
    "digest" TEXT NOT NULL,
    "inletBytes" BIGINT NOT NULL DEFAULT 0,
    "exportBytes" BIGINT NOT NULL DEFAULT 0,

    PRIMARY KEY ("resource", "recordId")
);

ALTER TABLE "Tunnel" ADD COLUMN "accounts" TEXT NOT NULL DEFAULT '';
