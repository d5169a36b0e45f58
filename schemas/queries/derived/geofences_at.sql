-- The shapes of an account's geofences whose bounds hold a place, for the exact test; archived ones too.
SELECT id, JSONExtractRaw(body, 'geometry')
FROM geofences FINAL
WHERE account = {account:UInt64} AND {lat:Float64} BETWEEN south AND north
    AND if(west <= east, {lng:Float64} BETWEEN west AND east, {lng:Float64} >= west OR {lng:Float64} <= east)
ORDER BY id
