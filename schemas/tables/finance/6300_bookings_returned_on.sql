-- The local day on which a rental ended, in the zone of the booking; 1970-01-01 of one that did not end, and in a zone that is not named here
-- or is the account's: reports work these out when they read, as for all of them that takes longer than everything else. Zones are named, as
-- one that the server does not know, such as one that is newer than it, would refuse every booking.
ALTER TABLE bookings ADD COLUMN IF NOT EXISTS returned_on Date32 DEFAULT toDate32(formatDateTime(if(timezone IN (
    'UTC', 'America/Anchorage', 'America/Argentina/Buenos_Aires', 'America/Bogota', 'America/Boise', 'America/Cancun', 'America/Caracas',
    'America/Chicago', 'America/Costa_Rica', 'America/Denver', 'America/Detroit', 'America/Edmonton', 'America/Guatemala', 'America/Halifax',
    'America/Indiana/Indianapolis', 'America/Jamaica', 'America/Lima', 'America/Los_Angeles', 'America/Mexico_City', 'America/Monterrey',
    'America/Montevideo', 'America/New_York', 'America/Panama', 'America/Phoenix', 'America/Puerto_Rico', 'America/Regina', 'America/Santiago',
    'America/Santo_Domingo', 'America/Sao_Paulo', 'America/St_Johns', 'America/Tijuana', 'America/Toronto', 'America/Vancouver',
    'America/Winnipeg', 'Africa/Algiers', 'Africa/Cairo', 'Africa/Casablanca', 'Africa/Johannesburg', 'Africa/Lagos', 'Africa/Nairobi',
    'Africa/Tunis', 'Asia/Amman', 'Asia/Baku', 'Asia/Bangkok', 'Asia/Beirut', 'Asia/Dubai', 'Asia/Ho_Chi_Minh', 'Asia/Hong_Kong', 'Asia/Jakarta',
    'Asia/Jerusalem', 'Asia/Karachi', 'Asia/Kathmandu', 'Asia/Kolkata', 'Asia/Kuala_Lumpur', 'Asia/Kuwait', 'Asia/Makassar', 'Asia/Manila',
    'Asia/Nicosia', 'Asia/Qatar', 'Asia/Riyadh', 'Asia/Seoul', 'Asia/Shanghai', 'Asia/Singapore', 'Asia/Taipei', 'Asia/Tbilisi', 'Asia/Tokyo',
    'Asia/Yerevan', 'Atlantic/Azores', 'Atlantic/Canary', 'Atlantic/Madeira', 'Atlantic/Reykjavik', 'Australia/Adelaide', 'Australia/Brisbane',
    'Australia/Darwin', 'Australia/Hobart', 'Australia/Melbourne', 'Australia/Perth', 'Australia/Sydney', 'Europe/Amsterdam', 'Europe/Athens',
    'Europe/Belgrade', 'Europe/Berlin', 'Europe/Bratislava', 'Europe/Brussels', 'Europe/Bucharest', 'Europe/Budapest', 'Europe/Copenhagen',
    'Europe/Dublin', 'Europe/Helsinki', 'Europe/Istanbul', 'Europe/Lisbon', 'Europe/Ljubljana', 'Europe/London', 'Europe/Luxembourg',
    'Europe/Madrid', 'Europe/Malta', 'Europe/Oslo', 'Europe/Paris', 'Europe/Prague', 'Europe/Riga', 'Europe/Rome', 'Europe/Sarajevo',
    'Europe/Skopje', 'Europe/Sofia', 'Europe/Stockholm', 'Europe/Tallinn', 'Europe/Vienna', 'Europe/Vilnius', 'Europe/Warsaw', 'Europe/Zagreb',
    'Europe/Zurich', 'Indian/Mauritius', 'Pacific/Auckland', 'Pacific/Fiji', 'Pacific/Honolulu') AS known,
    actual_return_at, toDateTime64(0, 3, 'UTC')), '%F', if(known, timezone, 'UTC')))
