-- CreateTable
CREATE TABLE "LoggedCommit" (
    "seq" BIGINT NOT NULL,
    "at" TIMESTAMP(3) NOT NULL,
    "token" TEXT NOT NULL,
    "changes" TEXT NOT NULL,
    "firstEntry" INTEGER NOT NULL,
    "lastEntry" INTEGER NOT NULL,

    CONSTRAINT "LoggedCommit_pkey" PRIMARY KEY ("seq")
);

-- The log is never empty, so that every server has a row with which it recognizes another copy of the database.
INSERT INTO "LoggedCommit" VALUES (0, now(), md5(random()::text || clock_timestamp()::text), '[]', 0, 0);
