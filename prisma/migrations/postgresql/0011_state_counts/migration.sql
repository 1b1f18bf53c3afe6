-- Counts of disabled records read these and no rows: few records are disabled.
CREATE INDEX "Client_disabled" ON "Client"("userId", "id") WHERE NOT "enabled";
CREATE INDEX "Host_disabled" ON "Host"("ownerId", "clientId", "id") WHERE NOT "enabled";
CREATE INDEX "User_disabled" ON "User"("id") WHERE NOT "enabled";
