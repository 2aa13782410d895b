#!/usr/bin/env sh
# REST with curl alone: sign in, read, write, change under a condition, delete. `sh rest/curl.sh http://localhost:4000`
set -eu
url=${1:-http://localhost:4000}
# The value of a field of JSON whose values are plain: scripts of one's own have jq.
field() { sed -n "s/.*\"$1\":\"\([^\"]*\)\".*/\1/p" | head -n 1; }
headers=$(mktemp)
trap 'rm -f "$headers"' EXIT

token=$(curl -sSf "$url/identity/api/auth/sign-in/email" -H 'content-type: application/json' \
  -d '{"email":"owner@demo.test","password":"supergraph-demo"}' | field accessToken)
ask() { curl -sSf -D "$headers" -H "authorization: Bearer $token" -H 'content-type: application/json' "$@"; }

brand=$(ask "$url/publishing/api/brands?first=1" | sed -n 's/.*"brands":\[{"id":"\([^"]*\)".*/\1/p')
echo "brand $brand"

ask "$url/publishing/api/posts" -H "idempotency-key: $$-$(date +%s)" -d "{\"brandId\":\"$brand\",\"platform\":\"x\",\"copy\":\"Written with curl at $(date)\"}" >/dev/null
location=$(tr -d '\r' <"$headers" | sed -n 's/^location: //p')
etag=$(tr -d '\r' <"$headers" | sed -n 's/^etag: //p')
echo "made $location, version $etag"

ask -X PUT "$url$location" -H "if-match: $etag" -d '{"copy":"Changed with curl"}' >/dev/null
status=$(curl -s -o /dev/null -w '%{http_code}' -X PUT "$url$location" -H "authorization: Bearer $token" -H 'content-type: application/json' -H "if-match: $etag" -d '{"copy":"Too late"}')
[ "$status" = 409 ] || { echo "expected 409, not $status"; exit 1; }
echo 'changed once; the second change came too late: 409'

ask -X DELETE "$url$location"
echo 'deleted'
