-- What the wheels did since the place last changed (fleet.Wheels): since when the speed says that it goes on from there, and has
-- this very value; the speed (-1 for unknown), the way by the speeds, and how long nobody told any. An old row knows nothing of it.
ALTER TABLE vehicle_state
    ADD COLUMN IF NOT EXISTS still_goes_ms Int64,
    ADD COLUMN IF NOT EXISTS still_same_ms Int64,
    ADD COLUMN IF NOT EXISTS still_speed_mps Float64,
    ADD COLUMN IF NOT EXISTS still_way_m Float64,
    ADD COLUMN IF NOT EXISTS still_mute_ms Int64
