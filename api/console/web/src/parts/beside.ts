import type { Text } from '../lib/texts';

// The pages that stand beside each other in a place of the navigation.

interface Beside {
	href: string;
	name: Text;
}

export const mapPages: readonly Beside[] = [
	{ href: '/map', name: 'liveMap' }, { href: '/fences', name: 'fences' }, { href: '/heat', name: 'heat' }, { href: '/shares', name: 'shares' },
];
export const alertPages: readonly Beside[] = [{ href: '/alerts', name: 'inbox' }, { href: '/rules', name: 'rules' }];
