export const tabs = [
	{ href: '/platform', name: 'keys' },
	{ href: '/platform/webhooks', name: 'webhooks' },
	{ href: '/platform/imports', name: 'imports' },
	{ href: '/platform/jobs', name: 'jobs' },
	{ href: '/platform/letters', name: 'deadLetters' },
	{ href: '/platform/usage', name: 'usage' },
	{ href: '/platform/people', name: 'people' },
	{ href: '/platform/clients', name: 'programs' },
	{ href: '/platform/audit', name: 'audit' },
] as const;
