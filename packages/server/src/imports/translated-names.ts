/**
 * What columns are called in other languages: by Outlook and other programs, which translate their exports, and by people.
 * `Name` in German and `Nom` in French may be the last name or the whole one: the other columns decide (`name-columns.ts`).
 */
export const TRANSLATED_NAMES: Readonly<Record<string, readonly string[]>> = {
  email: [
    ...['E-Mail-Adresse', 'Mailadresse', 'E-Mail: Adresse', 'Adresse de messagerie', 'Adresse e-mail'],
    ...['Adresse électronique', 'Adresse mail', 'Courriel', 'Dirección de correo electrónico', 'Correo electrónico'],
    ...['Correo', 'Indirizzo di posta elettronica', 'Indirizzo e-mail', 'Posta elettronica', 'E-mailadres'],
    ...['Endereço de email', 'Endereço de e-mail', 'Endereço de correio eletrónico', 'Endereço de correio electrónico'],
    ...['Endereço de correio eletrônico', 'Correio eletrônico', 'Correio eletrónico', 'Adres e-mail', 'Adres email'],
    ...['Adres poczty e-mail', 'Adres poczty elektronicznej', '電子メール アドレス', '電子メール', 'メールアドレス'],
    ...['Eメール', 'メール', 'E-postadress', 'E-post', 'E-postadresse', 'E-mailadresse', 'Sähköpostiosoite'],
    ...['Sähköposti', 'E-mailová adresa', 'E-mailova adresa', 'E-mail cím', 'E-posta adresi', 'E-posta'],
    ...['Адрес эл. почты', 'Адрес электронной почты', 'Электронная почта', 'Эл. почта', 'Почта', 'Електронна пошта'],
    ...['电子邮件地址', '电子邮件', '邮箱', '電子郵件地址', '電子郵件', '전자 메일 주소', '이메일 주소', '이메일'],
    ...['Adresă de e-mail', 'Διεύθυνση ηλ. ταχυδρομείου', 'כתובת דואר אלקטרוני', 'عنوان البريد الإلكتروني'],
    ...['Email Home', 'Home Email', 'Personal Email', 'Email Other', 'Other Email'],
  ],
  firstname: [
    ...['Vorname', 'Rufname', 'Prénom', 'Nombre de pila', 'Voornaam', 'Primeiro nome', 'Imię', 'Förnamn', 'Fornavn'],
    ...['Etunimi', 'Jméno', 'Keresztnév', 'Имя', '名', '名字'],
  ],
  lastname: [
    ...['Nachname', 'Familienname', 'Zuname', 'Nom de famille', 'Apellidos', 'Apellido', 'Cognome', 'Achternaam'],
    ...['Apelido', 'Sobrenome', 'Nazwisko', 'Efternamn', 'Etternavn', 'Efternavn', 'Sukunimi', 'Příjmení'],
    ...['Vezetéknév', 'Soyadı', 'Soyad', 'Фамилия', '姓', '姓氏'],
  ],
  full_name: [
    ...['Vollständiger Name', 'Ansprechpartner', 'Ansprechperson', 'Kontakt', 'Kontaktname', 'Nom complet', 'Nom'],
    ...['Nombre completo', 'Nombre', 'Nombre y apellidos', 'Nome completo', 'Nome', 'Nome e cognome', 'Volledige naam'],
    ...['Naam', 'Imię i nazwisko', 'Namn', 'Navn', 'Nimi', 'ФИО', '氏名', 'お名前', '名前', '姓名', '이름'],
  ],
  salutation: ['Anrede', 'Civilité', 'Tratamiento', 'Aanhef'],
  company: [
    ...['Firma', 'Firmenname', 'Unternehmen', 'Société', 'Entreprise', 'Raison sociale', 'Empresa', 'Organización'],
    ...['Società', 'Azienda', 'Ragione sociale', 'Bedrijf', 'Bedrijfsnaam', 'Företag', 'Firmanavn', 'Virksomhed'],
    ...['Компания', 'Организация', '会社名', '会社', '公司', '회사'],
  ],
  jobtitle: [
    ...['Funktion', 'Stellenbezeichnung', 'Jobtitel', 'Berufsbezeichnung', 'Fonction', 'Poste', 'Puesto', 'Cargo'],
    ...[
      'Posizione',
      'Ruolo',
      'Functie',
      'Functietitel',
      'Stanowisko',
      'Befattning',
      'Должность',
      '役職',
      '职位',
      'Titel',
    ],
  ],
  numberofemployees: ['Mitarbeiter', 'Mitarbeiterzahl', 'Anzahl Mitarbeiter', 'Effectif', 'Empleados', 'Dipendenti'],
  annualrevenue: ['Umsatz', 'Jahresumsatz', "Chiffre d'affaires", 'Facturación', 'Fatturato', 'Omzet'],
  industry: ['Branche', 'Secteur', "Secteur d'activité", 'Sector industrial', 'Settore'],
  phone: [
    ...['Telefon', 'Telefonnummer', 'Telefon geschäftlich', 'Tel.-Nr.', 'Téléphone', 'Numéro de téléphone'],
    ...['Téléphone professionnel', 'Teléfono', 'Número de teléfono', 'Telefono', 'Telefoon', 'Telefoonnummer'],
    ...['Telefone', 'Puhelin', 'Телефон', '電話', '電話番号', '电话', '전화번호', 'Handy', 'Handynummer', 'Mobil'],
    ...['Mobiltelefon', 'Mobilnummer', 'Mobiel', 'Portable', 'Tél. mobile', 'Téléphone mobile', 'Móvil', 'Celular'],
    ...['Cellulare', 'Telemóvel', '携帯電話', '手机', 'Telefon privat'],
  ],
  city: [
    ...['Ort', 'Stadt', 'Wohnort', 'Ort geschäftlich', 'Ville', 'Ciudad', 'Città', 'Plaats', 'Woonplaats', 'Stad'],
    ...['Cidade', 'Miasto', 'Город', '市区町村', '城市'],
  ],
  country: ['Land', 'Land/Region', 'Land/Region geschäftlich', 'Pays', 'País', 'Paese', 'Kraj', 'Страна', '国', '国家'],
  state: ['Bundesland', 'Kanton', 'Provincia', 'Provincie', 'Département', 'Województwo', '都道府県'],
  zip: [
    ...['PLZ', 'Postleitzahl', 'Postleitzahl geschäftlich', 'Code postal', 'Código postal', 'Codice postale', 'CAP'],
    ...['Postnummer', 'Kod pocztowy', 'CEP', 'Индекс', '郵便番号', '邮编'],
  ],
  address: [
    ...['Straße', 'Strasse', 'Straße geschäftlich', 'Anschrift', 'Adresse', 'Rue', 'Dirección', 'Calle', 'Indirizzo'],
    ...['Via', 'Adres', 'Straat', 'Endereço', 'Адрес', '住所', '地址'],
  ],
  birthday: [
    ...['Geburtstag', 'Geburtsdatum', 'Date de naissance', 'Anniversaire', 'Fecha de nacimiento', 'Cumpleaños'],
    ...['Data di nascita', 'Compleanno', 'Geboortedatum', 'Data de nascimento', 'Data urodzenia', '生年月日', '生日'],
  ],
  website: ['Webseite', 'Internetseite', 'Site web', 'Page Web', 'Sitio web', 'Página web', 'Sito web', 'Сайт'],
}
