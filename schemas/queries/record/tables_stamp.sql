-- A number that is another one whenever some of the tables were written to, and how many partitions it is of. A part carries the
-- number of the newest insert and of the newest mutation that it stems from; merges change neither. No column of the tables is read.
SELECT sum(cityHash64(name, partition_id, inserted, mutated)), count()
FROM (
    SELECT table AS name, partition_id, max(max_block_number) AS inserted, max(data_version) AS mutated
    FROM system.parts
    WHERE database = currentDatabase() AND table IN {tables:Array(String)} AND active
    GROUP BY table, partition_id
)
