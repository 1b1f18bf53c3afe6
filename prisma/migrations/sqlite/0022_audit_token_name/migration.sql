-- The default is for entries of earlier versions, which may also still write.
ALTER TABLE "AuditEntry" ADD COLUMN "tokenName" TEXT NOT NULL DEFAULT '';
