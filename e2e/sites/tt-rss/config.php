<?php
// What the reader reads in place of /etc/tt-rss: everything is in the test's own folder, and feeds are fetched through
// the test's proxy, because a reader refuses addresses of the machine it runs on.
$folder = getenv( 'READER_FOLDER' );

define( 'DB_TYPE', 'mysql' );
define( 'DB_HOST', "localhost;unix_socket=$folder/db.sock" );
define( 'DB_PORT', '' );
define( 'DB_USER', 'root' );
define( 'DB_NAME', 'ttrss' );
define( 'DB_PASS', '' );
define( 'MYSQL_CHARSET', 'UTF8' );
define( 'SELF_URL_PATH', getenv( 'READER_URL' ) . '/' );
define( 'SINGLE_USER_MODE', false );
define( 'SIMPLE_UPDATE_MODE', false );
define( 'PHP_EXECUTABLE', PHP_BINARY );
define( 'LOCK_DIRECTORY', "$folder/lock" );
define( 'CACHE_DIR', "$folder/cache" );
define( 'ICONS_DIR', "$folder/icons" );
define( 'ICONS_URL', 'feed-icons' );
define( 'AUTH_AUTO_CREATE', false );
define( 'AUTH_AUTO_LOGIN', true );
define( 'FORCE_ARTICLE_PURGE', 0 );
define( 'ENABLE_REGISTRATION', false );
define( 'REG_NOTIFY_ADDRESS', 'nobody@example.org' );
define( 'REG_MAX_USERS', 0 );
define( 'SESSION_COOKIE_LIFETIME', 86400 );
define( 'SMTP_FROM_NAME', 'Tiny Tiny RSS' );
define( 'SMTP_FROM_ADDRESS', 'nobody@example.org' );
define( 'DIGEST_SUBJECT', 'News' );
define( 'CHECK_FOR_UPDATES', false );
define( 'ENABLE_GZIP_OUTPUT', false );
define( 'PLUGINS', 'auth_internal, note' );
define( 'LOG_DESTINATION', '' );
define( 'CONFIG_VERSION', 26 );
define( '_HTTP_PROXY', getenv( 'READER_PROXY' ) );
// The same on a machine that has PHP's curl and on one that has not.
define( 'NO_CURL', true );
