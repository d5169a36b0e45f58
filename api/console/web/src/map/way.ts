/** The way of a day, longitude first, in pieces between which nobody can have driven. */
export type Way = [number, number][][];

const fastest = 100; // m/s between two places that are joined: a tracker that was taken away, or played again, is faster

interface Fix {
	lat: number;
	lng: number;
	fix_at: string;
}

/** The way along places in the order of their times. */
export function wayOf(fixes: readonly Fix[]): Way {
	const way: Way = [];
	fixes.forEach((fix, i) => {
		const before = fixes[i - 1];
		const s = before ? (Date.parse(fix.fix_at) - Date.parse(before.fix_at)) / 1000 : 0;
		const metres = before ? Math.hypot(fix.lat - before.lat, (fix.lng - before.lng) * Math.cos((fix.lat * Math.PI) / 180)) * 111_195 : 0;
		if (!before || metres > Math.max(1000, s * fastest)) way.push([]);
		way[way.length - 1]?.push([fix.lng, fix.lat]);
	});
	return way;
}
