-- CreateTable
CREATE TABLE "SharedFile" (
    "name" TEXT NOT NULL,
    "sealed" TEXT NOT NULL,

    CONSTRAINT "SharedFile_pkey" PRIMARY KEY ("name")
);
