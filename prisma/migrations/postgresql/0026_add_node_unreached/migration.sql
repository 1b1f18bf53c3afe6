-- AlterTable
ALTER TABLE "Node" ADD COLUMN "unreached" TEXT NOT NULL DEFAULT '[]';
