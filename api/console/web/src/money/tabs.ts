export const tabs = [
	{ href: '/money', name: 'overview' },
	{ href: '/money/reports', name: 'reports' },
	{ href: '/money/entries', name: 'entries' },
	{ href: '/money/papers', name: 'papers' },
	{ href: '/money/expenses', name: 'expenses' },
	{ href: '/money/tolls', name: 'tolls' },
	{ href: '/money/rates', name: 'rates' },
] as const;
