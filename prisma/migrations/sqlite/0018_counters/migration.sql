-- CreateTable
CREATE TABLE "Counter" (
    "kind" TEXT NOT NULL,
    "id" INTEGER NOT NULL,
    "inletBytes" BIGINT NOT NULL,
    "exportBytes" BIGINT NOT NULL,

    PRIMARY KEY ("kind", "id")
);

-- The bytes that are counted already stay in the rows of their records, which count until they have a counter.
CREATE TRIGGER "Client_counter_delete" AFTER DELETE ON "Client" BEGIN
  DELETE FROM "Counter" WHERE kind = 'client' AND id = OLD.id;
END;
CREATE TRIGGER "Tunnel_counter_delete" AFTER DELETE ON "Tunnel" BEGIN
  DELETE FROM "Counter" WHERE kind = 'tunnel' AND id = OLD.id;
END;
CREATE TRIGGER "Host_counter_delete" AFTER DELETE ON "Host" BEGIN
  DELETE FROM "Counter" WHERE kind = 'host' AND id = OLD.id;
END;
