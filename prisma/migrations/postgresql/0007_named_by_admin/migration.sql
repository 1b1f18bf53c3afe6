-- AlterTable
ALTER TABLE "Host" ADD COLUMN     "namedByAdmin" BOOLEAN NOT NULL DEFAULT false;

-- Nobody wrote down who named a host. Those of clients that no user owns are the administrator's.
UPDATE "Host" SET "namedByAdmin" = true WHERE "ownerId" IS NULL;
