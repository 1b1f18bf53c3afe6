-- AlterTable
ALTER TABLE "Host" ADD COLUMN     "acme" BOOLEAN NOT NULL DEFAULT false;
