import { expect, test } from '@playwright/test';
import { enter, get, look, post, show, watch } from './own';

// What is wrong with vehicles and how that is found: issues, inspections in the yard, engine hours.

const mark = Date.now().toString(36);

test('an issue is reported, put on a work order and settled by it; another one is left as it is', async ({ page, request }) => {
	const faults = watch(page);
	const van = (await post(request, '/v1/vehicles', { make: 'Fiat', model: 'Ducato', nickname: `Yard ${mark}` })).id;
	await enter(page, '/maintenance');
	await page.getByRole('navigation', { name: 'Maintenance' }).getByRole('link', { name: 'Issues' }).click();
	await show(page, `/maintenance/issues?vehicle=${van}`);
	await look(page, 'issues');
	await show(page, `/vehicles/${van}`);
	await page.getByRole('link', { name: 'Report an issue' }).click();
	await page.getByLabel('How bad').selectOption('Affects safety');
	await expect(page.getByText('The vehicle stays in the yard until this is settled')).toBeVisible();
	await page.getByLabel('What is wrong').fill(`Brakes grind ${mark}`);
	await page.getByLabel('Reported by').fill('Ada, who drove it');
	await page.getByLabel('Category').fill('Brakes');
	await page.getByLabel('Fault codes').fill('C0035, C0040');
	await look(page, 'issue-new');
	await page.getByRole('button', { name: 'Report an issue' }).click();
	await expect(page.getByRole('heading', { name: `Brakes grind ${mark}` })).toBeVisible();
	const id = new URL(page.url()).pathname.split('/').pop() ?? '';
	expect(await get(request, `/v1/maintenance/issues/${id}`)).toMatchObject({
		vehicle_id: van, severity: 'safety_critical', reported_by: 'Ada, who drove it', category: 'Brakes', fault_codes: ['C0035', 'C0040'], status: 'open',
	});

	await page.getByRole('button', { name: 'Put on a work order' }).click();
	await expect(page.getByText('This vehicle has no open work order')).toBeVisible();
	await page.getByRole('link', { name: 'New work order' }).click();
	await expect(page.getByLabel(`Brakes grind ${mark}`)).toBeChecked();
	await look(page, 'order-of-issue');
	await page.getByRole('button', { name: 'Save' }).click();
	await expect(page.getByRole('heading', { name: `Brakes grind ${mark}` })).toBeVisible(); // it is called by what it settles
	const order = new URL(page.url()).pathname;

	const other = (await post(request, '/v1/maintenance/issues', { vehicle_id: van, description: `Rattles ${mark}`, severity: 'low' })).id;
	const third = (await post(request, '/v1/maintenance/issues', { vehicle_id: van, description: `Wiper ${mark}` })).id;
	await show(page, `/maintenance/issues/${third}`);
	await page.getByRole('button', { name: 'Put on a work order' }).click();
	await page.getByLabel('Work order').selectOption({ index: 1 });
	await page.getByRole('button', { name: 'Put on a work order' }).last().click();
	await expect(page.getByText('Work order', { exact: true })).toBeVisible();
	await look(page, 'issue');

	await show(page, order);
	await expect(page.getByRole('link', { name: `Wiper ${mark}` })).toBeVisible();
	await page.getByRole('button', { name: 'Start', exact: true }).click();
	await page.getByRole('button', { name: 'Done', exact: true }).click();
	await page.getByRole('button', { name: 'Done', exact: true }).last().click();
	await expect(page.getByText('Completed', { exact: true }).first()).toBeVisible();
	for (const one of [id, third]) await expect.poll(async () => (await get<{ status: string }>(request, `/v1/maintenance/issues/${one}`)).status).toBe('resolved');

	await show(page, `/maintenance/issues?vehicle=${van}`);
	await page.getByRole('link').filter({ hasText: `Rattles ${mark}` }).click();
	await page.getByRole('button', { name: 'Leave it as it is' }).click();
	await page.getByLabel('Why nothing is done').fill('It is only the cup holder');
	await page.getByRole('button', { name: 'Leave it as it is' }).last().click();
	await expect(page.getByText('It is only the cup holder')).toBeVisible();
	expect(await get(request, `/v1/maintenance/issues/${other}`)).toMatchObject({ status: 'wont_fix', resolution: 'It is only the cup holder' });
	expect(faults).toEqual([]);
});

test('an inspection is made with a telephone: its list comes again, and what fails becomes an issue', async ({ page, request }) => {
	const faults = watch(page);
	const made = async (nickname: string) => (await post(request, '/v1/vehicles', { make: 'Fiat', model: 'Ducato', nickname: `${nickname} ${mark}` })).id;
	const [van, next] = [await made('Walk'), await made('Next')];
	await page.setViewportSize({ width: 390, height: 844 });
	await enter(page, `/maintenance/inspections/new?vehicle=${van}`);
	await page.getByLabel('By the list').fill(`Monthly ${mark}`);
	await page.getByLabel(/^Odometer/).fill('12345');
	const point = (name: string) => page.getByRole('group', { name, exact: true });
	const submit = page.getByRole('button', { name: 'Submit' });
	await point('Tyres').getByRole('button', { name: /^Not in order/ }).click();
	await point('Tyres').getByLabel('What is wrong').fill('Worn, front left');
	await point('Tyres').getByLabel('How bad').selectOption('High');
	await page.getByRole('button', { name: 'Add a point' }).click();
	await page.getByRole('textbox', { name: 'New point' }).fill('First-aid kit');
	await point('New point').getByRole('button', { name: /^In order/ }).click();
	await expect(submit).toBeDisabled();
	await page.getByRole('button', { name: 'Keep for later' }).click();
	await expect(page.getByRole('heading', { name: 'Inspections' })).toBeVisible();
	await look(page, 'inspections');
	await page.setViewportSize({ width: 390, height: 844 });

	await page.getByRole('link').filter({ hasText: `Walk ${mark}` }).click();
	await expect(point('Tyres').getByLabel('What is wrong')).toHaveValue('Worn, front left');
	await page.getByLabel('Inspected by').fill('Grace');
	await page.getByRole('button', { name: 'All others are in order' }).click();
	await expect(page.getByText('Issues that follow: 1')).toBeVisible();
	await look(page, 'inspection-form');
	await page.setViewportSize({ width: 390, height: 844 });
	await submit.click();
	await expect(page.getByText('Submitted', { exact: true })).toBeVisible();
	await look(page, 'inspection');
	await page.getByRole('link', { name: 'Issue, High' }).click();
	await expect(page.getByRole('heading', { name: /Tyres/ })).toBeVisible();
	const [kept] = (await get<{ data: { mileage_mi: number; items: { point: string; result: string }[] }[] }>(request, `/v1/maintenance/inspections?vehicle_id=${van}`)).data;
	expect(kept?.mileage_mi).toBe(12345);
	expect(kept?.items).toContainEqual(expect.objectContaining({ point: 'First-aid kit', result: 'pass' }));

	await show(page, `/maintenance/inspections/new?vehicle=${next}`);
	await page.getByLabel('By the list').fill(`Monthly ${mark}`);
	await page.getByLabel('Inspected by').fill('Grace');
	await expect(point('First-aid kit')).toBeVisible();
	await page.getByRole('button', { name: 'All others are in order' }).click();
	await submit.click();
	await expect(page.getByText('Submitted', { exact: true })).toBeVisible();
	expect((await get<{ data: unknown[] }>(request, `/v1/maintenance/issues?vehicle_id=${next}`)).data).toEqual([]);
	expect(faults).toEqual([]);
});

test('engine hours are noted, and a schedule goes by them', async ({ page, request }) => {
	const faults = watch(page);
	const crane = (await post(request, '/v1/vehicles', { make: 'Liebherr', model: 'LTM', nickname: `Crane ${mark}` })).id;
	const task = (await post(request, '/v1/maintenance/tasks', { name: `Grease ${mark}`, every_engine_hours: 250 })).id;
	await enter(page, `/vehicles/${crane}`);
	await page.getByRole('button', { name: 'Note a reading' }).click();
	await page.getByLabel('Meter', { exact: true }).selectOption('Engine hours');
	await page.getByLabel('Engine hours', { exact: true }).fill('512.5');
	await page.getByRole('button', { name: 'Save' }).click();
	await expect(page.getByText('512.5 h').first()).toBeVisible();
	await page.getByRole('button', { name: 'Note a reading' }).click();
	await page.getByLabel('Meter', { exact: true }).selectOption('Battery cycles');
	await page.getByLabel('Battery cycles', { exact: true }).fill('80');
	await look(page, 'meters');
	await page.getByRole('button', { name: 'Save' }).click();
	await expect(page.getByRole('button', { name: 'Note a reading' })).toBeVisible();
	const read = (await get<{ data: { kind: string; value: number }[] }>(request, `/v1/vehicles/${crane}/meter_readings`)).data;
	expect(read.map((r) => [r.kind, r.value])).toEqual(expect.arrayContaining([['engine_hours', 512.5], ['battery_cycles', 80]]));

	// One that was wrong is taken back: it stays in the list, struck out, with the reason.
	await page.getByRole('button', { name: 'Take back 80' }).click();
	await page.getByLabel('Reason').fill('That was the other crane');
	await page.getByRole('button', { name: 'Take back', exact: true }).click();
	await expect(page.getByText('counts no more: That was the other crane')).toBeVisible();
	await look(page, 'meters-taken-back');
	const kept = (await get<{ data: { kind: string; voided: boolean }[] }>(request, `/v1/vehicles/${crane}/meter_readings`)).data;
	expect(kept.map((r) => [r.kind, r.voided])).toEqual(expect.arrayContaining([['engine_hours', false], ['battery_cycles', true]]));

	await show(page, `/maintenance/schedules/new?vehicle=${crane}&task=${task}`);
	await page.getByLabel('Last done at engine hours').fill('400');
	await page.getByLabel('Soon due, engine hours before').fill('25');
	await look(page, 'schedule-hours');
	await page.getByRole('button', { name: 'Save' }).click();
	await expect(page.getByRole('heading', { name: 'Schedules' })).toBeVisible();
	const [schedule] = (await get<{ data: { id: string; anchor: unknown; due_soon_hours: number }[] }>(request, `/v1/maintenance/schedules?vehicle_id=${crane}`)).data;
	expect(schedule).toMatchObject({ anchor: { engine_hours: 400 }, due_soon_hours: 25 });
	await show(page, `/maintenance/schedules/${schedule?.id}`);
	await page.getByLabel('Last done at engine hours').fill('');
	await page.getByRole('button', { name: 'Save' }).click();
	await expect(page.getByRole('heading', { name: 'Schedules' })).toBeVisible();
	expect((await get<{ anchor?: { engine_hours?: number } | null }>(request, `/v1/maintenance/schedules/${schedule?.id}`)).anchor?.engine_hours ?? null).toBeNull();
	expect(faults).toEqual([]);
});
