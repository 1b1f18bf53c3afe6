-- CreateTable
CREATE TABLE "Counter" (
    "kind" TEXT NOT NULL,
    "id" INTEGER NOT NULL,
    "inletBytes" BIGINT NOT NULL,
    "exportBytes" BIGINT NOT NULL,

    CONSTRAINT "Counter_pkey" PRIMARY KEY ("kind","id")
);

-- Room for the next version of each row on its page, so that writing it changes no index.
ALTER TABLE "Counter" SET (fillfactor = 50);

-- The bytes that are counted already stay in the rows of their records, which count until they have a counter.
CREATE FUNCTION adit_forget_counters() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM "Counter" c USING deleted d WHERE c.kind = TG_ARGV[0] AND c.id = d.id;
  RETURN NULL;
END $$;

CREATE TRIGGER "Client_counter_delete" AFTER DELETE ON "Client" REFERENCING OLD TABLE AS deleted
  FOR EACH STATEMENT EXECUTE FUNCTION adit_forget_counters('client');
CREATE TRIGGER "Tunnel_counter_delete" AFTER DELETE ON "Tunnel" REFERENCING OLD TABLE AS deleted
  FOR EACH STATEMENT EXECUTE FUNCTION adit_forget_counters('tunnel');
CREATE TRIGGER "Host_counter_delete" AFTER DELETE ON "Host" REFERENCING OLD TABLE AS deleted
  FOR EACH STATEMENT EXECUTE FUNCTION adit_forget_counters('host');
