-- CreateTable
CREATE TABLE "SharedFile" (
    "name" TEXT NOT NULL PRIMARY KEY,
    "sealed" TEXT NOT NULL
);
