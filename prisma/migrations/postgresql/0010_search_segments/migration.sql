-- What a search in memory holds of each table (src/store/search): 512 neighbouring rows have a stamp, which changes with them.
CREATE TABLE "SearchSegment" (
    "resource" TEXT NOT NULL,
    "segment" INTEGER NOT NULL,
    "stamp" BIGINT NOT NULL,

    CONSTRAINT "SearchSegment_pkey" PRIMARY KEY ("resource", "segment")
);

-- The same throughout a transaction: of a statement that changes many rows each segment is written once.
CREATE FUNCTION adit_search_stamp() RETURNS bigint LANGUAGE sql STABLE AS $$ SELECT txid_current() $$;

-- Rows were added.
CREATE FUNCTION adit_search_added() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO "SearchSegment" (resource, segment, stamp) SELECT TG_TABLE_NAME, id >> 9, adit_search_stamp() FROM counted GROUP BY id >> 9 ORDER BY id >> 9
    ON CONFLICT (resource, segment) DO UPDATE SET stamp = excluded.stamp WHERE "SearchSegment".stamp <> excluded.stamp;
  RETURN NULL;
END $$;

-- A row is another one.
CREATE FUNCTION adit_search_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO "SearchSegment" (resource, segment, stamp) VALUES (TG_TABLE_NAME, NEW.id >> 9, adit_search_stamp())
    ON CONFLICT (resource, segment) DO UPDATE SET stamp = excluded.stamp WHERE "SearchSegment".stamp <> excluded.stamp;
  RETURN NULL;
END $$;

-- Rows are gone. A segment without rows goes too.
CREATE FUNCTION adit_search_removed() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE gone int; remain boolean;
BEGIN
  FOR gone IN SELECT DISTINCT id >> 9 AS segment FROM counted ORDER BY segment LOOP
    EXECUTE format('SELECT EXISTS (SELECT 1 FROM %I WHERE id BETWEEN $1 AND $1 + 511)', TG_TABLE_NAME) INTO remain USING gone << 9;
    IF remain THEN UPDATE "SearchSegment" SET stamp = adit_search_stamp() WHERE resource = TG_TABLE_NAME AND segment = gone;
    ELSE DELETE FROM "SearchSegment" WHERE resource = TG_TABLE_NAME AND segment = gone;
    END IF;
  END LOOP;
  RETURN NULL;
END $$;

INSERT INTO "SearchSegment" (resource, segment, stamp) SELECT 'Client', id >> 9, adit_search_stamp() FROM "Client" GROUP BY id >> 9;
CREATE TRIGGER "Client_search_insert" AFTER INSERT ON "Client" REFERENCING NEW TABLE AS counted FOR EACH STATEMENT EXECUTE FUNCTION adit_search_added();
CREATE TRIGGER "Client_search_change" AFTER UPDATE OF "remark", "vkey", "userId" ON "Client" FOR EACH ROW
WHEN (OLD."remark" IS DISTINCT FROM NEW."remark" OR OLD."vkey" IS DISTINCT FROM NEW."vkey" OR OLD."userId" IS DISTINCT FROM NEW."userId") EXECUTE FUNCTION adit_search_changed();
CREATE TRIGGER "Client_search_delete" AFTER DELETE ON "Client" REFERENCING OLD TABLE AS counted FOR EACH STATEMENT EXECUTE FUNCTION adit_search_removed();

INSERT INTO "SearchSegment" (resource, segment, stamp) SELECT 'Tunnel', id >> 9, adit_search_stamp() FROM "Tunnel" GROUP BY id >> 9;
CREATE TRIGGER "Tunnel_search_insert" AFTER INSERT ON "Tunnel" REFERENCING NEW TABLE AS counted FOR EACH STATEMENT EXECUTE FUNCTION adit_search_added();
CREATE TRIGGER "Tunnel_search_change" AFTER UPDATE OF "remark", "target", "password", "port", "clientId", "ownerId", "mode" ON "Tunnel" FOR EACH ROW
WHEN (OLD."remark" IS DISTINCT FROM NEW."remark" OR OLD."target" IS DISTINCT FROM NEW."target" OR OLD."password" IS DISTINCT FROM NEW."password" OR OLD."port" IS DISTINCT FROM NEW."port" OR OLD."clientId" IS DISTINCT FROM NEW."clientId" OR OLD."ownerId" IS DISTINCT FROM NEW."ownerId" OR OLD."mode" IS DISTINCT FROM NEW."mode") EXECUTE FUNCTION adit_search_changed();
CREATE TRIGGER "Tunnel_search_delete" AFTER DELETE ON "Tunnel" REFERENCING OLD TABLE AS counted FOR EACH STATEMENT EXECUTE FUNCTION adit_search_removed();

INSERT INTO "SearchSegment" (resource, segment, stamp) SELECT 'Host', id >> 9, adit_search_stamp() FROM "Host" GROUP BY id >> 9;
CREATE TRIGGER "Host_search_insert" AFTER INSERT ON "Host" REFERENCING NEW TABLE AS counted FOR EACH STATEMENT EXECUTE FUNCTION adit_search_added();
CREATE TRIGGER "Host_search_change" AFTER UPDATE OF "host", "remark", "clientKey", "clientId", "ownerId" ON "Host" FOR EACH ROW
WHEN (OLD."host" IS DISTINCT FROM NEW."host" OR OLD."remark" IS DISTINCT FROM NEW."remark" OR OLD."clientKey" IS DISTINCT FROM NEW."clientKey" OR OLD."clientId" IS DISTINCT FROM NEW."clientId" OR OLD."ownerId" IS DISTINCT FROM NEW."ownerId") EXECUTE FUNCTION adit_search_changed();
CREATE TRIGGER "Host_search_delete" AFTER DELETE ON "Host" REFERENCING OLD TABLE AS counted FOR EACH STATEMENT EXECUTE FUNCTION adit_search_removed();

INSERT INTO "SearchSegment" (resource, segment, stamp) SELECT 'User', id >> 9, adit_search_stamp() FROM "User" GROUP BY id >> 9;
CREATE TRIGGER "User_search_insert" AFTER INSERT ON "User" REFERENCING NEW TABLE AS counted FOR EACH STATEMENT EXECUTE FUNCTION adit_search_added();
CREATE TRIGGER "User_search_change" AFTER UPDATE OF "username", "remark" ON "User" FOR EACH ROW
WHEN (OLD."username" IS DISTINCT FROM NEW."username" OR OLD."remark" IS DISTINCT FROM NEW."remark") EXECUTE FUNCTION adit_search_changed();
CREATE TRIGGER "User_search_delete" AFTER DELETE ON "User" REFERENCING OLD TABLE AS counted FOR EACH STATEMENT EXECUTE FUNCTION adit_search_removed();
