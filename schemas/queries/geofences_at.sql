-- The shapes of an account's geofences whose bounds hold a place, for the exact test; archived ones too.
SELECT id, JSONExtractRaw(body, 'geometry')
FROM geofences FINAL
WHERE account = {account:UInt64} AND {lat:Float64} BETWEEN south AND north
    AND ({lng:Float64} BETWEEN west AND east OR {lng:Float64} + 360 BETWEEN west AND east OR {lng:Float64} - 360 BETWEEN west AND east)
ORDER BY id
