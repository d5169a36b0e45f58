-- Removes the texts of a sweep, whose mutation is done.
ALTER TABLE sweep_texts DROP PARTITION {sweep:UInt64}
