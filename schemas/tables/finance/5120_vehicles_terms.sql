-- terms is a fingerprint of what a vehicle was bought for, loses, is insured, financed and sold for; 0 without any of it.
-- It changes when expenses by schedule may have to. Serves: the duty that makes these.
ALTER TABLE vehicles
    ADD COLUMN IF NOT EXISTS terms UInt64 DEFAULT if(
        JSONHas(body, 'acquisition_cost') OR JSONHas(body, 'financing') OR JSONHas(body, 'insurance')
            OR JSONExtractString(body, 'depreciation_method') NOT IN ('', 'none', 'market_value'),
        cityHash64(JSONExtractRaw(body, 'ownership'), JSONExtractRaw(body, 'acquired_on'), JSONExtractRaw(body, 'acquisition_cost'),
            JSONExtractRaw(body, 'in_service_on'), JSONExtractRaw(body, 'disposal_on'), JSONExtractRaw(body, 'disposal_price'),
            JSONExtractRaw(body, 'residual_value'), JSONExtractRaw(body, 'useful_life_months'),
            JSONExtractRaw(body, 'expected_life_mi'), JSONExtractRaw(body, 'depreciation_method'),
            JSONExtractRaw(body, 'financing'), JSONExtractRaw(body, 'insurance'), JSONExtractRaw(body, 'timezone')), 0)
