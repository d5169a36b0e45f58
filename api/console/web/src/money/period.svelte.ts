import { dayAfter, isDay, localDay } from '../lib/format';
import { route } from '../lib/route.svelte';

// The period, comparison and grouping that the address says.

export const spans = ['month_to_date', 'last_month', 'quarter_to_date', 'last_quarter', 'year_to_date', 'last_year', 'last_12_months', 'last_30_days', 'fixed'] as const;
export type Span = (typeof spans)[number];
export const compares = ['', 'previous_period', 'previous_year'] as const;

/** The first day of the month that is so many months after that of a day. */
function monthOf(day: string, months = 0): string {
	const at = new Date(`${day}T00:00:00Z`);
	return new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + months, 1)).toISOString().slice(0, 10);
}

function daysOf(span: Span, today: string): { from: string; until: string } {
	const month = Number(today.slice(5, 7)) - 1;
	const quarter = monthOf(today, -(month % 3));
	const year = monthOf(today, -month);
	const before = (first: string) => dayAfter(first, -1);
	switch (span) {
		case 'last_month': return { from: monthOf(today, -1), until: before(monthOf(today)) };
		case 'quarter_to_date': return { from: quarter, until: today };
		case 'last_quarter': return { from: monthOf(quarter, -3), until: before(quarter) };
		case 'year_to_date': return { from: year, until: today };
		case 'last_year': return { from: monthOf(year, -12), until: before(year) };
		case 'last_12_months': return { from: monthOf(today, -12), until: before(monthOf(today)) };
		case 'last_30_days': return { from: dayAfter(today, -29), until: today };
		default: return { from: monthOf(today), until: today };
	}
}

class Period {
	readonly span: Span = $derived.by(() => {
		const said = route.get('span');
		if (isDay(route.get('from')) || isDay(route.get('until'))) return 'fixed';
		return spans.find((s) => s === said && s !== 'fixed') ?? 'last_12_months';
	});
	readonly days = $derived.by(() => {
		const today = localDay(Date.now());
		const of = daysOf(this.span, today);
		if (this.span !== 'fixed') return of;
		const from = isDay(route.get('from')) ? route.get('from') : of.from;
		const until = isDay(route.get('until')) ? route.get('until') : today;
		return { from, until: until < from ? from : until };
	});
	readonly compare = $derived(compares.find((c) => c === route.get('compare')) ?? '');

	choose(span: Span) {
		if (span === 'fixed') {
			const { from, until } = this.days;
			route.set('span', '');
			route.set('from', from);
			route.set('until', until);
			return;
		}
		route.set('from', '');
		route.set('until', '');
		route.set('span', span === 'last_12_months' ? '' : span);
	}

	/** What of the address says the period, for a link that keeps it. */
	get query(): string {
		const kept = new URLSearchParams();
		for (const name of ['span', 'from', 'until', 'compare']) if (route.get(name)) kept.set(name, route.get(name));
		return kept.toString();
	}
}

export const period = new Period();
