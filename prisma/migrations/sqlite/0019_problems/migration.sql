-- The records with a problem, of which there are few (src/store/hot/problem-lists.ts): of all owners, and of one.
CREATE INDEX "Client_away" ON "Client"("lastOnlineAt", "id") WHERE "enabled" AND NOT "expired" AND NOT "connected" AND "lastOnlineAt" IS NOT NULL AND "tunnelCount" > 0;
CREATE INDEX "Client_away_of_owner" ON "Client"("userId", "lastOnlineAt", "id") WHERE "enabled" AND NOT "expired" AND NOT "connected" AND "lastOnlineAt" IS NOT NULL AND "tunnelCount" > 0;
CREATE INDEX "Client_traffic_used" ON "Client"("id") WHERE "flowLimit" > 0 AND ("inletBytes" + "exportBytes") * 5 > CAST("flowLimit" AS bigint) * 4194304;
CREATE INDEX "Client_traffic_used_of_owner" ON "Client"("userId", "id") WHERE "flowLimit" > 0 AND ("inletBytes" + "exportBytes") * 5 > CAST("flowLimit" AS bigint) * 4194304;
CREATE INDEX "Client_tunnels_used" ON "Client"("id") WHERE "maxTunnels" > 0 AND "tunnelCount" >= "maxTunnels";
CREATE INDEX "Client_tunnels_used_of_owner" ON "Client"("userId", "id") WHERE "maxTunnels" > 0 AND "tunnelCount" >= "maxTunnels";
CREATE INDEX "Client_expiry_of_owner" ON "Client"("userId", "expired", "expiresAt", "id") WHERE "expiresAt" IS NOT NULL;
CREATE INDEX "Tunnel_closed" ON "Tunnel"("id") WHERE "enabled" AND "clientOnline" AND NOT "running";
CREATE INDEX "Tunnel_closed_of_owner" ON "Tunnel"("ownerId", "id") WHERE "enabled" AND "clientOnline" AND NOT "running";
