-- AlterTable
ALTER TABLE "Node" ADD COLUMN "draining" BOOLEAN NOT NULL DEFAULT false;
