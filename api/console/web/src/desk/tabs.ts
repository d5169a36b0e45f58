export const tabs = [
	{ href: '/vehicles', name: 'vehicles' },
	{ href: '/vehicles/classes', name: 'classes' },
	{ href: '/vehicles/locations', name: 'locations' },
	{ href: '/vehicles/devices', name: 'devices' },
] as const;

export const maintenance = [
	{ href: '/maintenance', name: 'dueAndOrders' },
	{ href: '/maintenance/issues', name: 'issues' },
	{ href: '/maintenance/inspections', name: 'inspections' },
	{ href: '/maintenance/tasks', name: 'serviceTasks' },
	{ href: '/maintenance/schedules', name: 'schedules' },
] as const;
