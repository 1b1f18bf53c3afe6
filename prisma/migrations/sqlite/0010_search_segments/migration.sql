-- What a search in memory holds of each table (src/store/search): 512 neighbouring rows have a stamp, which changes with them.
CREATE TABLE "SearchSegment" (
    "resource" TEXT NOT NULL,
    "segment" INTEGER NOT NULL,
    "stamp" BIGINT NOT NULL,

    PRIMARY KEY ("resource", "segment")
);

INSERT INTO "SearchSegment" (resource, segment, stamp) SELECT 'Client', id >> 9, random() >> 11 FROM "Client" GROUP BY id >> 9;
CREATE TRIGGER "Client_search_insert" AFTER INSERT ON "Client" BEGIN
  INSERT INTO "SearchSegment" (resource, segment, stamp) VALUES ('Client', NEW.id >> 9, random() >> 11) ON CONFLICT (resource, segment) DO UPDATE SET stamp = excluded.stamp;
END;
CREATE TRIGGER "Client_search_change" AFTER UPDATE OF "remark", "vkey", "userId" ON "Client"
WHEN OLD."remark" IS NOT NEW."remark" OR OLD."vkey" IS NOT NEW."vkey" OR OLD."userId" IS NOT NEW."userId" BEGIN
  INSERT INTO "SearchSegment" (resource, segment, stamp) VALUES ('Client', NEW.id >> 9, random() >> 11) ON CONFLICT (resource, segment) DO UPDATE SET stamp = excluded.stamp;
END;
CREATE TRIGGER "Client_search_delete" AFTER DELETE ON "Client" BEGIN
  INSERT INTO "SearchSegment" (resource, segment, stamp) VALUES ('Client', OLD.id >> 9, random() >> 11) ON CONFLICT (resource, segment) DO UPDATE SET stamp = excluded.stamp;
  DELETE FROM "SearchSegment" WHERE resource = 'Client' AND segment = OLD.id >> 9
    AND NOT EXISTS (SELECT 1 FROM "Client" WHERE id BETWEEN OLD.id >> 9 << 9 AND (OLD.id >> 9 << 9) + 511);
END;

INSERT INTO "SearchSegment" (resource, segment, stamp) SELECT 'Tunnel', id >> 9, random() >> 11 FROM "Tunnel" GROUP BY id >> 9;
CREATE TRIGGER "Tunnel_search_insert" AFTER INSERT ON "Tunnel" BEGIN
  INSERT INTO "SearchSegment" (resource, segment, stamp) VALUES ('Tunnel', NEW.id >> 9, random() >> 11) ON CONFLICT (resource, segment) DO UPDATE SET stamp = excluded.stamp;
END;
CREATE TRIGGER "Tunnel_search_change" AFTER UPDATE OF "remark", "target", "password", "port", "clientId", "ownerId", "mode" ON "Tunnel"
WHEN OLD."remark" IS NOT NEW."remark" OR OLD."target" IS NOT NEW."target" OR OLD."password" IS NOT NEW."password" OR OLD."port" IS NOT NEW."port" OR OLD."clientId" IS NOT NEW."clientId" OR OLD."ownerId" IS NOT NEW."ownerId" OR OLD."mode" IS NOT NEW."mode" BEGIN
  INSERT INTO "SearchSegment" (resource, segment, stamp) VALUES ('Tunnel', NEW.id >> 9, random() >> 11) ON CONFLICT (resource, segment) DO UPDATE SET stamp = excluded.stamp;
END;
CREATE TRIGGER "Tunnel_search_delete" AFTER DELETE ON "Tunnel" BEGIN
  INSERT INTO "SearchSegment" (resource, segment, stamp) VALUES ('Tunnel', OLD.id >> 9, random() >> 11) ON CONFLICT (resource, segment) DO UPDATE SET stamp = excluded.stamp;
  DELETE FROM "SearchSegment" WHERE resource = 'Tunnel' AND segment = OLD.id >> 9
    AND NOT EXISTS (SELECT 1 FROM "Tunnel" WHERE id BETWEEN OLD.id >> 9 << 9 AND (OLD.id >> 9 << 9) + 511);
END;

INSERT INTO "SearchSegment" (resource, segment, stamp) SELECT 'Host', id >> 9, random() >> 11 FROM "Host" GROUP BY id >> 9;
CREATE TRIGGER "Host_search_insert" AFTER INSERT ON "Host" BEGIN
  INSERT INTO "SearchSegment" (resource, segment, stamp) VALUES ('Host', NEW.id >> 9, random() >> 11) ON CONFLICT (resource, segment) DO UPDATE SET stamp = excluded.stamp;
END;
CREATE TRIGGER "Host_search_change" AFTER UPDATE OF "host", "remark", "clientKey", "clientId", "ownerId" ON "Host"
WHEN OLD."host" IS NOT NEW."host" OR OLD."remark" IS NOT NEW."remark" OR OLD."clientKey" IS NOT NEW."clientKey" OR OLD."clientId" IS NOT NEW."clientId" OR OLD."ownerId" IS NOT NEW."ownerId" BEGIN
  INSERT INTO "SearchSegment" (resource, segment, stamp) VALUES ('Host', NEW.id >> 9, random() >> 11) ON CONFLICT (resource, segment) DO UPDATE SET stamp = excluded.stamp;
END;
CREATE TRIGGER "Host_search_delete" AFTER DELETE ON "Host" BEGIN
  INSERT INTO "SearchSegment" (resource, segment, stamp) VALUES ('Host', OLD.id >> 9, random() >> 11) ON CONFLICT (resource, segment) DO UPDATE SET stamp = excluded.stamp;
  DELETE FROM "SearchSegment" WHERE resource = 'Host' AND segment = OLD.id >> 9
    AND NOT EXISTS (SELECT 1 FROM "Host" WHERE id BETWEEN OLD.id >> 9 << 9 AND (OLD.id >> 9 << 9) + 511);
END;

INSERT INTO "SearchSegment" (resource, segment, stamp) SELECT 'User', id >> 9, random() >> 11 FROM "User" GROUP BY id >> 9;
CREATE TRIGGER "User_search_insert" AFTER INSERT ON "User" BEGIN
  INSERT INTO "SearchSegment" (resource, segment, stamp) VALUES ('User', NEW.id >> 9, random() >> 11) ON CONFLICT (resource, segment) DO UPDATE SET stamp = excluded.stamp;
END;
CREATE TRIGGER "User_search_change" AFTER UPDATE OF "username", "remark" ON "User"
WHEN OLD."username" IS NOT NEW."username" OR OLD."remark" IS NOT NEW."remark" BEGIN
  INSERT INTO "SearchSegment" (resource, segment, stamp) VALUES ('User', NEW.id >> 9, random() >> 11) ON CONFLICT (resource, segment) DO UPDATE SET stamp = excluded.stamp;
END;
CREATE TRIGGER "User_search_delete" AFTER DELETE ON "User" BEGIN
  INSERT INTO "SearchSegment" (resource, segment, stamp) VALUES ('User', OLD.id >> 9, random() >> 11) ON CONFLICT (resource, segment) DO UPDATE SET stamp = excluded.stamp;
  DELETE FROM "SearchSegment" WHERE resource = 'User' AND segment = OLD.id >> 9
    AND NOT EXISTS (SELECT 1 FROM "User" WHERE id BETWEEN OLD.id >> 9 << 9 AND (OLD.id >> 9 << 9) + 511);
END;
