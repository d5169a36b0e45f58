export const tabs = [
	{ href: '/vehicles', name: 'vehicles' },
	{ href: '/vehicles/classes', name: 'classes' },
	{ href: '/vehicles/locations', name: 'locations' },
	{ href: '/vehicles/devices', name: 'devices' },
] as const;
