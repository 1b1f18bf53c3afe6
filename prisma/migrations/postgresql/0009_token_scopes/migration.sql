-- Null = made before secrets could be chosen: it sees them.
ALTER TABLE "ApiToken" ADD COLUMN     "secrets" BOOLEAN,
ADD COLUMN     "wall" BOOLEAN NOT NULL DEFAULT false;
