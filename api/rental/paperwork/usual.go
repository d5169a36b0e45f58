package paperwork

// UsualAgreement is the text of agreements of accounts that have none of their own, in the language of a tag, or else
// in English. It is no legal advice.
func UsualAgreement(tag string) string {
	t, _, known := spoken(tag)
	if base, _ := t.Base(); known && usual[base.String()] != "" {
		return usual[base.String()]
	}
	return usual["en"]
}

// usual are the usual agreements, by language. What one of them names, all do.
var usual = map[string]string{
	"en": `# Parties
{{seller.name}}, {{seller.address}} (the lessor), rents the vehicle below to {{customer.name}}, {{customer.address}} (the renter).
Driving licence: {{customer.licence}} ({{customer.licence_country}}), valid until {{customer.licence_expires_on}}.
Other drivers: {{drivers}}

# Vehicle
{{vehicle.name}}, {{vehicle.year}}, {{vehicle.color}}, plate {{vehicle.plate}}, VIN {{vehicle.vin}}.
Odometer {{vehicle.mileage}}, fuel or charge {{vehicle.fuel}}.
Condition at pickup: {{vehicle.condition}}

# Rental
Booking {{booking.number}}: from {{booking.pickup_at}} ({{booking.pickup_location}}) until {{booking.return_at}} ({{booking.return_location}}), {{booking.days}} days.
Included distance: {{booking.included_miles}}; each further mile {{booking.extra_mile_fee}}.
{{booking.charges}}
Total: {{booking.total}}. Deposit: {{booking.deposit}}.

# Terms
1. The vehicle is driven only by the renter and the drivers named above, each with a valid licence, and never under the influence of alcohol or drugs.
2. The renter returns the vehicle at the agreed time and place, in the condition in which it was received, but for ordinary wear, and with as much fuel or charge.
3. Damage, theft and accidents are reported at once. The renter bears the damage that the agreed protection does not cover.
4. Tolls, fines and penalties of the time of the rental are borne by the renter.
5. The lessor may use the deposit for what the renter owes, and gives back the rest when the vehicle has been returned and inspected.
`,
	"de": `# Parteien
{{seller.name}}, {{seller.address}} (Vermieter), vermietet das unten genannte Fahrzeug an {{customer.name}}, {{customer.address}} (Mieter).
Führerschein: {{customer.licence}} ({{customer.licence_country}}), gültig bis {{customer.licence_expires_on}}.
Weitere Fahrer: {{drivers}}

# Fahrzeug
{{vehicle.name}}, {{vehicle.year}}, {{vehicle.color}}, Kennzeichen {{vehicle.plate}}, FIN {{vehicle.vin}}.
Zählerstand {{vehicle.mileage}}, Tank oder Ladung {{vehicle.fuel}}.
Zustand bei der Abholung: {{vehicle.condition}}

# Miete
Buchung {{booking.number}}: von {{booking.pickup_at}} ({{booking.pickup_location}}) bis {{booking.return_at}} ({{booking.return_location}}), {{booking.days}} Tage.
Enthaltene Strecke: {{booking.included_miles}}; jede weitere Meile {{booking.extra_mile_fee}}.
{{booking.charges}}
Gesamt: {{booking.total}}. Kaution: {{booking.deposit}}.

# Bedingungen
1. Das Fahrzeug fahren nur der Mieter und die oben genannten Fahrer, jeder mit gültigem Führerschein und niemals unter dem Einfluss von Alkohol oder Drogen.
2. Der Mieter gibt das Fahrzeug zur vereinbarten Zeit am vereinbarten Ort zurück, von gewöhnlicher Abnutzung abgesehen im Zustand der Übernahme und mit ebenso viel Kraftstoff oder Ladung.
3. Schäden, Diebstahl und Unfälle werden sofort gemeldet. Der Mieter trägt den Schaden, den der vereinbarte Schutz nicht deckt.
4. Maut, Bußgelder und Strafen aus der Mietzeit trägt der Mieter.
5. Der Vermieter darf die Kaution mit dem verrechnen, was der Mieter schuldet, und gibt den Rest zurück, sobald das Fahrzeug zurückgegeben und geprüft ist.
`,
	"fr": `# Parties
{{seller.name}}, {{seller.address}} (le loueur), loue le véhicule ci-dessous à {{customer.name}}, {{customer.address}} (le locataire).
Permis de conduire : {{customer.licence}} ({{customer.licence_country}}), valable jusqu'au {{customer.licence_expires_on}}.
Autres conducteurs : {{drivers}}

# Véhicule
{{vehicle.name}}, {{vehicle.year}}, {{vehicle.color}}, immatriculation {{vehicle.plate}}, VIN {{vehicle.vin}}.
Compteur {{vehicle.mileage}}, carburant ou charge {{vehicle.fuel}}.
État au départ : {{vehicle.condition}}

# Location
Réservation {{booking.number}} : du {{booking.pickup_at}} ({{booking.pickup_location}}) au {{booking.return_at}} ({{booking.return_location}}), {{booking.days}} jours.
Distance comprise : {{booking.included_miles}} ; chaque mile en plus {{booking.extra_mile_fee}}.
{{booking.charges}}
Total : {{booking.total}}. Caution : {{booking.deposit}}.

# Conditions
1. Seuls le locataire et les conducteurs nommés ci-dessus conduisent le véhicule, chacun avec un permis valable, et jamais sous l'emprise de l'alcool ou de stupéfiants.
2. Le locataire rend le véhicule à l'heure et au lieu convenus, dans l'état où il l'a reçu, usure normale exceptée, avec autant de carburant ou de charge.
3. Dommages, vol et accidents sont signalés aussitôt. Le locataire supporte les dommages que la protection convenue ne couvre pas.
4. Les péages, amendes et pénalités de la durée de la location sont à la charge du locataire.
5. Le loueur peut imputer la caution sur ce que le locataire doit, et restitue le reste lorsque le véhicule a été rendu et contrôlé.
`,
	"es": `# Partes
{{seller.name}}, {{seller.address}} (el arrendador), alquila el vehículo siguiente a {{customer.name}}, {{customer.address}} (el arrendatario).
Permiso de conducir: {{customer.licence}} ({{customer.licence_country}}), válido hasta el {{customer.licence_expires_on}}.
Otros conductores: {{drivers}}

# Vehículo
{{vehicle.name}}, {{vehicle.year}}, {{vehicle.color}}, matrícula {{vehicle.plate}}, VIN {{vehicle.vin}}.
Cuentakilómetros {{vehicle.mileage}}, combustible o carga {{vehicle.fuel}}.
Estado en la recogida: {{vehicle.condition}}

# Alquiler
Reserva {{booking.number}}: desde {{booking.pickup_at}} ({{booking.pickup_location}}) hasta {{booking.return_at}} ({{booking.return_location}}), {{booking.days}} días.
Distancia incluida: {{booking.included_miles}}; cada milla más {{booking.extra_mile_fee}}.
{{booking.charges}}
Total: {{booking.total}}. Fianza: {{booking.deposit}}.

# Condiciones
1. Solo conducen el vehículo el arrendatario y los conductores nombrados arriba, cada uno con permiso válido y nunca bajo los efectos del alcohol o de las drogas.
2. El arrendatario devuelve el vehículo a la hora y en el lugar acordados, en el estado en que lo recibió, salvo el desgaste normal, y con el mismo combustible o carga.
3. Los daños, el robo y los accidentes se comunican de inmediato. El arrendatario asume los daños que la protección acordada no cubre.
4. Los peajes, multas y sanciones del tiempo del alquiler corren a cargo del arrendatario.
5. El arrendador puede aplicar la fianza a lo que el arrendatario deba, y devuelve el resto cuando el vehículo ha sido devuelto y revisado.
`,
}
