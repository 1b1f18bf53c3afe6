-- CreateTable
CREATE TABLE "LoggedCommit" (
    "seq" BIGINT NOT NULL PRIMARY KEY,
    "at" DATETIME NOT NULL,
    "token" TEXT NOT NULL,
    "changes" TEXT NOT NULL,
    "firstEntry" INTEGER NOT NULL,
    "lastEntry" INTEGER NOT NULL
);
