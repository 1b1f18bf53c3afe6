-- Columns are added in place: replacing the tables would drop their triggers and text indexes.
-- CreateTable
CREATE TABLE "RefusalSample" (
    "clientId" INTEGER NOT NULL,
    "cause" TEXT NOT NULL,
    "step" TEXT NOT NULL,
    "at" INTEGER NOT NULL,
    "count" BIGINT NOT NULL,

    PRIMARY KEY ("clientId", "step", "at", "cause"),
    CONSTRAINT "RefusalSample_clientId_fkey" FOREIGN KEY ("clientId") REFERENCES "Client" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);

ALTER TABLE "Node" ADD COLUMN "refusals" TEXT NOT NULL DEFAULT '';

-- CreateIndex
CREATE INDEX "RefusalSample_step_at_idx" ON "RefusalSample"("step", "at");
