-- Asks the pipeline to hold still for some seconds from now on; 0 lets it go on.
INSERT INTO ingest_holds (id, until) SELECT {id:String}, now64(3) + toIntervalSecond({seconds:UInt32})
