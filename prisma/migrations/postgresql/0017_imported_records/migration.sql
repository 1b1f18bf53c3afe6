-- AlterTable
ALTER TABLE "Tunnel" ADD COLUMN     "accounts" TEXT NOT NULL DEFAULT '';

-- CreateTable
CREATE TABLE "ImportedRecord" (
    "resource" TEXT NOT NULL,
    "recordId" TEXT NOT NULL,
    "digest" TEXT NOT NULL,
    "inletBytes" BIGINT NOT NULL DEFAULT 0,
    "exportBytes" BIGINT NOT NULL DEFAULT 0,

    CONSTRAINT "ImportedRecord_pkey" PRIMARY KEY ("resource","recordId")
);
