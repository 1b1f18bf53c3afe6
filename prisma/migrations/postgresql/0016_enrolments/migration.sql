-- CreateTable
CREATE TABLE "Enrolment" (
    "id" SERIAL NOT NULL,
    "clientId" INTEGER NOT NULL,
    "hash" TEXT NOT NULL,
    "expiresAt" TIMESTAMP(3) NOT NULL,
    "createdAt" TIMESTAMP(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "usedAt" TIMESTAMP(3),
    "usedFrom" TEXT NOT NULL DEFAULT '',
    "machine" TEXT NOT NULL DEFAULT '',

    CONSTRAINT "Enrolment_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE UNIQUE INDEX "Enrolment_hash_key" ON "Enrolment"("hash");

-- CreateIndex
CREATE INDEX "Enrolment_clientId_id_idx" ON "Enrolment"("clientId", "id");

-- AddForeignKey
ALTER TABLE "Enrolment" ADD CONSTRAINT "Enrolment_clientId_fkey" FOREIGN KEY ("clientId") REFERENCES "Client"("id") ON DELETE CASCADE ON UPDATE CASCADE;
