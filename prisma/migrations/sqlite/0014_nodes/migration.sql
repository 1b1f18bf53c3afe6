-- CreateTable
CREATE TABLE "Node" (
    "name" TEXT NOT NULL PRIMARY KEY,
    "incarnation" TEXT NOT NULL,
    "address" TEXT NOT NULL,
    "version" TEXT NOT NULL,
    "startedAt" DATETIME NOT NULL,
    "seenAt" DATETIME NOT NULL,
    "stopped" BOOLEAN NOT NULL DEFAULT false,
    "agents" INTEGER NOT NULL DEFAULT 0,
    "connections" INTEGER NOT NULL DEFAULT 0,
    "load" REAL NOT NULL DEFAULT 0,
    "lagMs" INTEGER NOT NULL DEFAULT 0
);
