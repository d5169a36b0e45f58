// An address of the interface that is in no town names the nearest one: "4 km NE of Buda, Texas, US".

const points = ['N', 'NE', 'E', 'SE', 'S', 'SW', 'W', 'NW'];

/** How far from a town a place is, in which of eight directions from north on, and the town; null of another address. */
export function fromAfar(address: string): { km: number; point: number; town: string } | null {
	const [, km = '', point = '', town = ''] = /^(\d+) km ([NESW]{1,2}) of (.+)$/.exec(address) ?? [];
	return points.includes(point) ? { km: Number(km), point: points.indexOf(point), town } : null;
}
