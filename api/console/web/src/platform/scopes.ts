// What a credential may do, as the interface names it; those of one subject stand together.
export const scopes = [
	['vehicles:read', 'vehicles:write'], ['bookings:read', 'bookings:write', 'bookings:override'], ['customers:read', 'customers:write', 'customers.pii:read'],
	['maintenance:read', 'maintenance:write'], ['finance:read', 'finance:write', 'reports:read'], ['telematics:read', 'telematics:write', 'devices:command'],
	['webhooks:manage', 'users:manage', 'oauth:manage', 'keys:manage'], ['admin'],
];
