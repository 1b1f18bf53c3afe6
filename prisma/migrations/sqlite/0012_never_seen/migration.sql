-- Counts of clients whose agent never connected read this and no rows.
CREATE INDEX "Client_never_seen" ON "Client"("userId", "id") WHERE "lastOnlineAt" IS NULL;
