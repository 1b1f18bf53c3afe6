-- AlterTable
ALTER TABLE "Host" ADD COLUMN     "noStore" BOOLEAN NOT NULL DEFAULT false;

-- AlterTable
ALTER TABLE "Tunnel" ADD COLUMN     "noStore" BOOLEAN NOT NULL DEFAULT false;
