import { session } from './session.svelte';
import type { Text } from './texts';

// The pages of each place of the navigation. Each is there for who has one of the scopes that it names: without them the
// interface would show nothing on it.

interface Page {
	href: string;
	name: Text;
	needs: readonly string[];
}
const page = (href: string, name: Text, ...needs: string[]): Page => ({ href, name, needs });

const pages = {
	map: [page('/map', 'liveMap', 'vehicles:read'), page('/fences', 'fences', 'telematics:read'), page('/heat', 'heat', 'telematics:read'), page('/shares', 'shares', 'telematics:read')],
	bookings: [page('/bookings', 'bookings', 'bookings:read')],
	customers: [page('/customers', 'customers', 'customers:read')],
	vehicles: [
		page('/vehicles', 'vehicles', 'vehicles:read'), page('/vehicles/classes', 'classes', 'vehicles:read'),
		page('/vehicles/locations', 'locations', 'vehicles:read'), page('/vehicles/devices', 'devices', 'telematics:read'),
	],
	maintenance: [
		page('/maintenance', 'dueAndOrders', 'maintenance:read'), page('/maintenance/issues', 'issues', 'maintenance:read'),
		page('/maintenance/inspections', 'inspections', 'maintenance:read'), page('/maintenance/tasks', 'serviceTasks', 'maintenance:read'),
		page('/maintenance/schedules', 'schedules', 'maintenance:read'),
	],
	alerts: [page('/alerts', 'inbox', 'telematics:read'), page('/rules', 'rules', 'telematics:read')],
	money: [
		page('/money', 'overview', 'reports:read'), page('/money/reports', 'reports', 'reports:read'), page('/money/entries', 'entries', 'finance:read'),
		page('/money/papers', 'papers', 'finance:read'), page('/money/expenses', 'expenses', 'finance:read'), page('/money/tolls', 'tolls', 'finance:read'),
		page('/money/rates', 'rates', 'bookings:read'),
	],
	platform: [
		page('/platform', 'keys', 'keys:manage'), page('/platform/webhooks', 'webhooks', 'webhooks:manage'),
		page('/platform/imports', 'imports', 'vehicles:write', 'bookings:write', 'customers:write', 'finance:write', 'maintenance:write', 'telematics:write'),
		page('/platform/jobs', 'jobs', 'telematics:read'), page('/platform/letters', 'deadLetters', 'telematics:read'), page('/platform/usage', 'usage', 'telematics:read'),
		page('/platform/people', 'people', 'users:manage'), page('/platform/clients', 'programs', 'oauth:manage'), page('/platform/audit', 'audit', 'keys:manage'),
	],
} satisfies Record<string, Page[]>;
export type Place = keyof typeof pages;

/** The pages of a place that are of use to who is signed in. */
export function pagesOf(place: Place): Page[] {
	return pages[place].filter(({ needs }) => needs.some((scope) => session.may(scope)));
}
